/** `openColloquy` on a real server: one call gives an application its client, worker and API. */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { expect, inject, onTestFinished, test } from 'vitest';
import { openColloquy } from '../../src/engine/open-colloquy.js';
import { serve } from '../../src/http/listen.js';
import { calls, says, script } from '../../src/model/scripted/scripted.js';
import { ledger, shop } from '../support/engine/agents.js';
import { CONVERTER } from '../support/engine/engine.js';
import { temporaryFolder } from '../support/temporary.js';

function options() {
  return {
    store: join(temporaryFolder(), 'log.db'),
    temporal: { address: inject('temporalAddress') },
    taskQueue: `test-${randomUUID()}`,
    actor: { id: 'job' },
  };
}

test('an application that opens once has a client, a worker and an API over one log, and closes all of them', async () => {
  const given = options();
  const colloquy = await openColloquy(given);
  const agent = shop(script(calls('customer.ask', { question: 'A?' }), says('done')));
  const worker = await colloquy.worker({
    agents: [agent],
    services: ledger(),
    shutdownGraceMs: 500,
    tuning: {
      workflowBundle: { codePath: inject('workflowBundlePath') },
      dataConverter: { payloadConverterPath: CONVERTER },
    },
  });
  const running = worker.run();
  const server = await serve(await colloquy.app(), { port: 0 });
  onTestFinished(async () => {
    await server.close();
    worker.shutdown();
    await running;
    await colloquy.close();
    await colloquy.close();
  });
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
  const shown = await fetch(`${server.url}/v1/conversations/${id}`);
  expect(await shown.json()).toMatchObject({ agent: 'shop', status: 'idle' });
  expect(
    (await colloquy.log.head({ tenant: 'default', conversationId: id }))?.lastSeq,
  ).toBeGreaterThan(4);
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

test('an application whose store cannot be opened gets an error with the name of the store', async () => {
  const store = temporaryFolder();
  await expect(openColloquy({ ...options(), store })).rejects.toThrow(store);
});
