import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import { createServer } from 'node:net';
import { Client, Connection } from '@temporalio/client';
import { expect, it, onTestFinished } from 'vitest';

import { createWorkflowSource } from '../../../../src/projection/source/workflow-source.js';
import { KEY } from '../../../support/samples/log-events.js';

/** Accepts connections and never answers. */
async function aBlackHole(): Promise<string> {
  const sockets: Socket[] = [];
  const server = createServer((socket) => sockets.push(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

it('gives up on a server that never answers, for every kind of read', async () => {
  const connection = Connection.lazy({ address: await aBlackHole() });
  onTestFinished(async () => {
    await connection.close();
  });
  const source = createWorkflowSource(new Client({ connection }), { checkDeadlineMs: 200 });
  const before = performance.now();
  const listed = source.running?.()[Symbol.asyncIterator]();
  const results = await Promise.allSettled([
    source.describe(KEY),
    listed?.next(),
    source.events(KEY, { after: 0 }),
  ]);
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
  expect(performance.now() - before).toBeLessThan(2_500);
});

it('waits longer only for a query that can be given up, and gives that up at once', async () => {
  const connection = Connection.lazy({ address: await aBlackHole() });
  onTestFinished(async () => {
    await connection.close();
  });
  const client = new Client({ connection });
  const waits: number[] = [];
  // The query itself; the deadline of its caller is what counts.
  client.withDeadline = async (deadline) => {
    waits.push(Math.round((Number(deadline) - Date.now()) / 1_000));
    return await new Promise<never>(() => undefined);
  };
  const source = createWorkflowSource(client);
  const controller = new AbortController();
  void source.events(KEY, { after: 0 });
  void source.events(KEY, { after: 0, patient: true });
  const hanging = source.events(KEY, { after: 0, patient: true, signal: controller.signal });
  expect(waits).toEqual([1, 2, 4]);
  controller.abort();
  await expect(hanging).rejects.toThrow();
});
