/** Calls that the server refuses for now are repeated: queries of a workflow whose buffer is full sooner than others. */
import { createServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { Connection } from '@temporalio/client';
import { expect, it, onTestFinished } from 'vitest';
import { clientConnection } from '../../../../src/client/temporal/connection.js';
import { patient } from '../../../support/patience.js';
import { until } from '../../../support/until.js';

const FULL =
  'consistent query buffer is full, this may be caused by too many queries and workflow not able to process query fast enough';
/** An empty message, framed. */
const EMPTY = Buffer.from([0, 0, 0, 0, 0]);

/** A server that refuses queries with a message for a number of times; and a connection to it. */
async function refusing(message: string, times: number) {
  const tries: number[] = [];
  const server = createServer();
  const sessions = new Set<{ destroy(): void }>();
  server.on('session', (session) => sessions.add(session));
  server.on('stream', (stream, headers) => {
    const isQuery = headers[':path']?.endsWith('QueryWorkflow') === true;
    if (isQuery) tries.push(performance.now());
    const type = { ':status': 200, 'content-type': 'application/grpc' };
    if (isQuery && tries.length <= times) {
      stream.respond({ ...type, 'grpc-status': '8', 'grpc-message': message }, { endStream: true });
      return;
    }
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
    stream.respond(type, { waitForTrailers: true });
    stream.end(EMPTY);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const settings = { address, namespace: 'default', options: {} };
  const connection = Connection.lazy(clientConnection(settings));
  onTestFinished(async () => {
    await connection.close();
    for (const session of sessions) session.destroy();
    server.close();
  });
  return { connection, tries };
}

it('a query that a workflow cannot buffer now is repeated within a quarter of a second, as often as its caller waits', async () => {
  const { connection, tries } = await refusing(FULL, 12);
  await connection.workflowService.queryWorkflow({ namespace: 'default' });
  expect(tries).toHaveLength(13);
  const [first = 0, last = 0] = [tries[0], tries.at(-1)];
  expect(last - first).toBeLessThan(patient(12 * 300));
});

it('a query that an overloaded server refuses is repeated after more than a second', async () => {
  const { connection, tries } = await refusing('namespace rate limit exceeded', 1);
  await connection.workflowService.queryWorkflow({ namespace: 'default' });
  await until('it is repeated', () => tries.length === 2);
  const [first = 0, second = 0] = tries;
  expect(second - first).toBeGreaterThan(1_000);
});
