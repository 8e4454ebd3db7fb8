/** `openColloquy` on a real server: one call gives an application its client, worker and API. */
import { randomUUID } from 'node:crypto';
import { expect, inject, onTestFinished, test, vi } from 'vitest';
import { openColloquy } from '../../src/engine/open-colloquy.js';
import { calls, says, script } from '../../src/model/scripted/scripted.js';
import { ledger, shop } from '../support/engine/agents.js';
import { CONVERTER } from '../support/engine/engine.js';
import { identifyAll } from '../support/networks/test-identity.js';
import { promise } from '../support/promise.js';
import { openOptions, runs, served } from '../support/started-engines/opened.js';
import { temporaryFolder } from '../support/temporary.js';

const options = () => openOptions({ actor: { id: 'job' } });

test('an application that opens once has a client, a worker and an API over one log, and closes all of them', async () => {
  const given = options();
  const colloquy = await openColloquy(given);
  const agent = shop(script(calls('customer.ask', { question: 'A?' }), says('done')));
  onTestFinished(async () => {
    await colloquy.close();
    await colloquy.close();
  });
  await runs(colloquy, { agents: [agent], services: ledger() });
  const { request } = await served(await colloquy.app({ identify: identifyAll }));
  const id = randomUUID();
  const sent = await colloquy.client.conversation(id, { agent }).send('hello');
  const waiting = await sent.result();
  if (waiting.status !== 'waiting') throw new Error(`the turn is ${waiting.status}`);
  const [call] = waiting.pending;
  if (call === undefined) throw new Error('no call waits');
  // Another process of the application, with the same options.
  const other = await openColloquy(given);
  onTestFinished(() => other.close());
  const verdict = await other.client.resolve(call, { type: 'answer', value: { answer: 'yes' } });
  expect(verdict.verdict).toBe('accepted');
  expect(await other.client.turn(id, waiting.turnId).result()).toMatchObject({ text: 'done' });
  expect(await request(`/v1/conversations/${id}`)).toMatchObject({ agent: 'shop', status: 'idle' });
  expect(
    (await colloquy.log.head({ tenant: 'default', conversationId: id }))?.lastSeq,
  ).toBeGreaterThan(4);
  // A job of another process writes in a space; people read it by the API.
  if (other.spaces === undefined) throw new Error('the store has no spaces');
  const space = await other.spaces.create({ name: 'Reports' });
  const text = await space.send('Three refunds have failed.');
  expect(await request(`/v1/spaces/${space.id}/messages`)).toMatchObject({ messages: [text] });
});

test('an application that cannot reach Temporal gets an error with the address, and no log stays open', async () => {
  const temporal = { address: '127.0.0.1:1' };
  await expect(openColloquy({ ...options(), temporal })).rejects.toThrow(
    'No Temporal server answers at 127.0.0.1:1',
  );
});

test('an application that names no store gets an error that lists the kinds of stores', async () => {
  const { store: _, ...rest } = options();
  await expect(openColloquy(rest as never)).rejects.toThrow(
    'openColloquy: store must be a sqlite file, a postgres:// address, or adapters, got undefined',
  );
});

test(
  'a worker and an app with an option that is misspelt, or that the application sets, are refused',
  promise('G332'),
  async () => {
    const colloquy = await openColloquy(options());
    onTestFinished(() => colloquy.close());
    const agents = [shop(script())];
    await expect(
      colloquy.worker({ agents, services: ledger(), taskQueue: 'other' } as never),
    ).rejects.toThrow('colloquy.worker: taskQueue: unknown field; known are agents,');
    await expect(colloquy.app({ identify: identifyAll, heartBeatMs: 5 } as never)).rejects.toThrow(
      'colloquy.app: heartBeatMs: unknown field; did you mean heartbeatMs?',
    );
    await expect(colloquy.app({} as never)).rejects.toThrow('identify must be a function');
    for (const call of ['worker', 'app'] as const)
      await expect(colloquy[call](undefined as never)).rejects.toThrow(
        `colloquy.${call}: the options must be an object`,
      );
  },
);

test('a worker that never ran is ended when the application closes', async () => {
  const colloquy = await openColloquy(options());
  const agents = [shop(script())];
  const tuning = {
    workflowBundle: { codePath: inject('workflowBundlePath') },
    dataConverter: { payloadConverterPath: CONVERTER },
  };
  const worker = await colloquy.worker({ agents, services: ledger(), health: { port: 0 }, tuning });
  const url = `${worker.healthUrl ?? ''}/healthz`;
  expect((await fetch(url)).status).toBe(200);
  await colloquy.close();
  expect(worker.worker.getState()).toBe('STOPPED');
  await expect(fetch(url)).rejects.toThrow();
});

test('an application whose store cannot be opened gets an error with the name of the store', async () => {
  const store = temporaryFolder();
  await expect(openColloquy({ ...options(), store })).rejects.toThrow(store);
});

test('a connection that cannot be closed is reported, and the log is closed all the same', async () => {
  const colloquy = await openColloquy(options());
  const { connection } = colloquy.temporal;
  const closing = vi.spyOn(connection, 'close').mockRejectedValue(new Error('the channel is busy'));
  onTestFinished(async () => {
    closing.mockRestore();
    await connection.close();
  });
  await expect(colloquy.close()).rejects.toThrow('the channel is busy');
  await expect(
    colloquy.log.head({ tenant: 'default', conversationId: 'order-42' }),
  ).rejects.toThrow();
});

test('settings that are given whole do not read the environment, whose wrong variables do not count', async () => {
  vi.stubEnv('TEMPORAL_TLS', 'maybe');
  onTestFinished(() => {
    vi.unstubAllEnvs();
  });
  const given = options();
  await expect(openColloquy(given)).rejects.toThrow('TEMPORAL_TLS must be true, false, 1, 0');
  const temporal = { ...given.temporal, namespace: 'default', options: {} };
  const colloquy = await openColloquy({ ...given, temporal });
  await colloquy.close();
});
