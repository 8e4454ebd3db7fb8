/** Clients of an event log outside of the package, by its exports, and processes with different logs. */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Client, Connection } from '@temporalio/client';
import { CompressionCodec, ConversationClient } from 'colloquy/client';
import { clientOptionsFrom, type OpenLog, openEventLog, storeIdentity } from 'colloquy/log';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { promise } from '../../support/promise.js';
import { temporaryFolder } from '../../support/temporary.js';
import { until } from '../../support/until.js';
import { call } from '../support/api.js';
import { colloquy } from '../support/processes.js';
import { startWorld, type World } from '../support/world.js';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());

/** A client as an application constructs it. */
async function clientOver(
  file: string,
): Promise<{ readonly client: ConversationClient; readonly opened: OpenLog }> {
  const opened = await openEventLog(file);
  const connection = await Connection.connect({ address: world.server.address });
  onTestFinished(async () => {
    await opened.close();
    await connection.close();
  });
  const temporal = new Client({
    connection,
    identity: storeIdentity(await opened.log.storeId()),
    dataConverter: { payloadCodecs: [new CompressionCodec()] },
  });
  const options = clientOptionsFrom(opened, temporal);
  return { client: new ConversationClient({ ...options, actor: { id: 'outside' } }), opened };
}

describe('a client that an application constructs', () => {
  it('reads its own writes although the store does not have them yet', {
    ...promise('G243'),
  }, async () => {
    const file = join(world.folder, 'log.db');
    const { client, opened } = await clientOver(file);
    const lock = new DatabaseSync(file);
    onTestFinished(() => {
      lock.close();
    });
    lock.exec('BEGIN IMMEDIATE');
    const conversation = client.conversation('own-writes', { agent: 'support' });
    const turn = await conversation.send('My order arrived broken.', { requestId: 'r1' });
    if (turn.status !== 'admitted') throw new Error(turn.warning);
    const seen = await conversation.snapshot();
    const key = { tenant: 'default', conversationId: 'own-writes' };
    expect(await opened.log.head(key)).toBeUndefined();
    expect(seen.seq).toBeGreaterThanOrEqual(turn.seq);
    lock.exec('ROLLBACK');
  });
});

describe('an API with another event log than the workers', () => {
  it('reports it in its log and is not ready; workers report it when they receive one of its messages', {
    ...promise('G242'),
  }, async () => {
    const elsewhere = temporaryFolder();
    const env = {
      TEMPORAL_ADDRESS: world.server.address,
      COLLOQUY_TASK_QUEUE: world.taskQueue,
      COLLOQUY_LOG_LEVEL: 'info',
    };
    const api = colloquy(['serve', '--port', '0', '--data', elsewhere], env);
    const url = /http:\S+/.exec(await api.prints(/^api /m))?.[0] ?? '';
    const said = await api.prints(/another event log/);
    const theirs = await openEventLog(join(world.folder, 'log.db'));
    expect(said).toContain(`another event log (store ${await theirs.log.storeId()})`);
    const agents = await theirs.log.agents();
    await theirs.close();
    const ready = await call(`${url}/readyz`);
    expect(ready.status).toBe(503);
    expect(ready.body['checks']).toMatchObject({
      temporal: 'ok',
      store: 'ok',
      same_store: expect.stringMatching(/another event log .* COLLOQUY_DATA/) as string,
    });
    // The other store knows the agents, like one that was used before.
    const { opened } = await clientOver(join(elsewhere, 'log.db'));
    await opened.log.publishAgents(agents);
    await until(
      'the message is taken',
      () =>
        call(`${url}/v1/conversations`, {
          body: { agent: 'support', id: 'misled', message: 'My order arrived broken.' },
        }),
      { holds: ({ status }) => status === 202 },
    );
    const worker = world.stack.worker();
    await until('the worker says so', () => worker.output(), {
      holds: (text) => text.includes(`another event log (store`),
    });
    expect(worker.output()).toContain(await opened.log.storeId());
    // An API with the store of the workers is ready.
    expect((await call(`${world.apiUrl}/readyz`)).status).toBe(200);
  });
});
