/**
 * A bare HTTP server in front of the bare update: one more process on the way, like the engine's API, without routes,
 * checks or log lines. Prints its port as its first line.
 */
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { Client, Connection } from '@temporalio/client';
import { RESOLVE } from './workflows.js';

export interface BareResolution {
  readonly workflowId: string;
  readonly id: number;
}

const connection = await Connection.connect({ address: process.env['TEMPORAL_ADDRESS'] ?? '' });
const { workflow } = new Client({ connection });

const server = createServer((request, response) => {
  const answer = (status: number, body: object): void => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(body));
  };
  resolve(request).then(
    (verdict) => {
      answer(200, { verdict });
    },
    (error: unknown) => {
      answer(500, { message: error instanceof Error ? error.message : String(error) });
    },
  );
});

async function resolve(request: IncomingMessage): Promise<string> {
  const { workflowId, id } = (await json(request)) as BareResolution;
  const handle = workflow.getHandle(workflowId);
  return await handle.executeUpdate<string, [{ id: number }]>(RESOLVE, { args: [{ id }] });
}

server.listen(0, '127.0.0.1', () => {
  console.log((server.address() as AddressInfo).port);
  process.send?.({ type: 'ready' });
});
process.once('disconnect', () => {
  server.closeAllConnections();
  server.close();
  void connection.close();
});
process.channel?.unref();
