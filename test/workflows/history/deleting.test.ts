import { randomUUID } from 'node:crypto';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import type { Conversation } from '../../../src/client/index.js';
import { defineAgent } from '../../../src/define/define-agent.js';
import { defineTool } from '../../../src/define/define-tool.js';
import { calls, says, script } from '../../../src/model/scripted/scripted.js';
import { createHousekeeping } from '../../../src/projection/duties/housekeeping.js';
import { type BlobStore, openEventLog } from '../../../src/projection/index.js';
import { Projector } from '../../../src/projection/projector/projector.js';
import { Sweep } from '../../../src/projection/projector/sweep.js';
import { createWorkflowSource } from '../../../src/projection/source/workflow-source.js';
import type { WebhookStore } from '../../../src/store/ports/webhooks.js';
import { ledger, shop } from '../../support/engine/agents.js';
import { type Engine, startEngine } from '../../support/engine/engine.js';
import {
  type RestorableStore,
  restorablePostgres,
  restorableSqlite,
} from '../../support/fakes/restorable-stores.js';
import { promise } from '../../support/promise.js';
import { temporaryFolder } from '../../support/temporary.js';
import { until } from '../../support/until.js';
import { putEndpoint } from '../../support/webhooks/samples.js';

const asksAndWaits = () =>
  script(calls('customer.ask', { question: 'A?' }), says('again'), says('once more'));

async function engineWith(
  model: Parameters<typeof shop>[0],
  store?: () => Promise<Pick<RestorableStore, 'eventLog'>>,
): Promise<Engine> {
  const kept = store === undefined ? {} : { eventLog: (await store()).eventLog };
  return await startEngine({ agents: [shop(model)], services: ledger(), ...kept });
}

const STORES = [
  ['sqlite', restorableSqlite],
  ['postgres', restorablePostgres],
] as const;

const keyOf = (talk: Pick<Conversation, 'id'>) => ({
  tenant: 'default',
  conversationId: talk.id,
});

/**
 * Expects that no reader finds the conversation and that its run is not running. The server removes the run a little
 * later.
 */
async function expectGone(engine: Engine, talk: Conversation): Promise<void> {
  const status = async () => (await engine.handle(talk).describe()).status.name;
  expect(await status().catch(() => 'removed')).not.toBe('RUNNING');
  expect(await engine.opened.log.head(keyOf(talk))).toBeUndefined();
  await expect(talk.snapshot()).rejects.toMatchObject({ code: 'unknown_conversation' });
  await expect(talk.events()).rejects.toMatchObject({ code: 'unknown_conversation' });
  expect(await talk.exists()).toBe(false);
}

function housekeeping(engine: Engine, more: { now?: () => number; closedAfterMs?: number } = {}) {
  const { temporal: client, opened, taskQueue } = engine;
  return createHousekeeping({ client, opened, taskQueue, resumeAfterMs: 0, ...more });
}

test('a conversation with an open question is deleted with all of its runs; the same id can begin anew', {
  ...promise('G251'),
}, async () => {
  const engine = await engineWith(asksAndWaits());
  const { talk, result } = await engine.ask();
  expect(result.status).toBe('waiting');
  await engine.log(talk);
  await engine.signal(talk, 'rollOver');
  const runs = async () => (await engine.history.runs(engine.workflowId(talk))).length;
  await until('it rolled over', runs, { holds: (count) => count === 2 });
  const watched = engine.client.conversation(talk.id).subscribe();
  expect((await watched.next()).value).toMatchObject({ event: { seq: 1 } });

  expect(await engine.client.deleteConversation(talk.id)).toEqual({
    deleted: true,
    conversationId: talk.id,
  });
  await expectGone(engine, talk);
  // A watcher receives the frames that were read before the deletion, and then the end.
  let frames = 0;
  for await (const _frame of watched) frames += 1;
  expect(frames).toBeLessThan(100);

  // A repeated deletion succeeds again; an id that never existed is unknown.
  expect((await engine.client.deleteConversation(talk.id)).deleted).toBe(true);
  await expect(engine.client.deleteConversation('never-was')).rejects.toMatchObject({
    code: 'unknown_conversation',
  });

  await engine.say(talk, 'hello again');
  const events = await engine.log(talk);
  expect(events[0]).toMatchObject({ type: 'conversation_started', seq: 1 });
  expect(await engine.opened.log.head(keyOf(talk))).toMatchObject({ generation: 2 });
  // The server removes the old runs in the background and keeps the new one.
  await until('one run is left', runs, { holds: (count) => count === 1, timeoutMs: 60_000 });
  expect((await talk.snapshot()).status).toBe('idle');
});

test('a conversation can be deleted without a worker', promise('G251'), async () => {
  const engine = await engineWith(asksAndWaits());
  const { talk } = await engine.ask();
  await engine.log(talk);
  await engine.stopWorker();
  expect((await engine.client.deleteConversation(talk.id)).deleted).toBe(true);
  await expectGone(engine, talk);
});

test('workers finish a deletion that was killed after its first step, and nothing reappears meanwhile', {
  ...promise('G253'),
}, async () => {
  const engine = await engineWith(asksAndWaits());
  const { talk } = await engine.ask();
  await engine.log(talk);
  const { log, live } = engine.opened;
  const { runId } = await engine.handle(talk).describe();
  await log.beginDeletion({ ...keyOf(talk), runIds: [runId] });
  // The workflow still runs, a sweep sees it, and an answer continues the turn: none of that is stored or shown.
  await expect(talk.snapshot()).rejects.toMatchObject({ code: 'unknown_conversation' });
  const source = createWorkflowSource(engine.temporal);
  const sweep = new Sweep({ log, source, projector: new Projector({ log, live, source }) });
  onTestFinished(() => sweep.stop());
  await engine.signal(talk, 'resolveToolCall', {
    toolCallId: 'call_1',
    resolution: { type: 'answer', value: { answer: 'yes' } },
    actor: { id: 'ops' },
  });
  await engine.idle(talk);
  await sweep.pass();
  expect(await log.head(keyOf(talk))).toBeUndefined();

  expect(await housekeeping(engine).pass()).toMatchObject({ resumed: 1, failed: 0 });
  await expectGone(engine, talk);
  // The server removes the history within a minute. A deletion of which it has nothing left is finished.
  const { runIds = [] } = (await log.deletion(keyOf(talk))) ?? {};
  await log.finishDeletion({ ...keyOf(talk), runIds });
  await log.beginDeletion({ ...keyOf(talk), conversationId: 'removed', runIds: [randomUUID()] });
  expect(await housekeeping(engine).pass()).toEqual({ resumed: 1, expired: 0, failed: 0 });
  expect(await housekeeping(engine).pass()).toEqual({ resumed: 0, expired: 0, failed: 0 });
});

test('resuming an old deletion keeps a conversation that has since begun under the same id', {
  ...promise('G253'),
}, async () => {
  const engine = await engineWith(asksAndWaits());
  const { talk } = await engine.ask();
  await engine.log(talk);
  const { runId } = await engine.handle(talk).describe();
  await engine.opened.log.beginDeletion({ ...keyOf(talk), runIds: [runId] });
  await engine.handle(talk).terminate();
  await engine.say(talk, 'hello again');
  const events = await engine.log(talk);
  expect(await housekeeping(engine).pass()).toMatchObject({ resumed: 1, failed: 0 });
  expect(await engine.log(talk)).toEqual(events);
  expect((await engine.handle(talk).describe()).status.name).toBe('RUNNING');
});

test.each(STORES)(
  'a tenant is deleted with all its data in the store and in Temporal, and other tenants are not: %s',
  promise('G254'),
  async (_, store) => {
    const engine = await engineWith(
      script(says('1'), says('2'), says('3'), calls('customer.ask', { question: 'A?' })),
      store,
    );
    const tenant = `t-${engine.taskQueue.slice(0, 20).replaceAll(/[^a-z0-9]/gi, '')}`;
    const agent = 'shop';
    const talks = [1, 2, 3].map((nth) => engine.client.conversation(`c${nth}`, { tenant, agent }));
    for (const talk of talks) await (await talk.send('hi')).result();
    const other = engine.client.conversation('c1', { tenant: `${tenant}x`, agent });
    await (await other.send('hi')).result();
    // One conversation has lost everything in the store, another is closed.
    const lost = await engine.opened.log.beginDeletion({
      tenant,
      conversationId: 'c2',
      runIds: [],
    });
    expect(lost).toBeDefined();
    const { runIds = [] } = lost ?? {};
    await engine.opened.log.finishDeletion({ tenant, conversationId: 'c2', runIds });
    await talks[2]?.close();
    const listed = async (): Promise<number> => {
      const query = `WorkflowId STARTS_WITH 'conversation:${tenant}'`;
      return (await engine.temporal.workflow.count(query)).count;
    };
    await until('all are listed', listed, { holds: (count) => count === 4 });

    const webhooks = engine.opened.webhooks as WebhookStore;
    await putEndpoint(webhooks, { tenant });
    // Files of messages that were never sent.
    const blobs = engine.opened.blobs as BlobStore;
    const file = { type: 'application/octet-stream', content: Buffer.from('a file') } as const;
    for (const conversationId of ['begun', 'never', 'twice'])
      for (const content of ['1', '2'])
        await blobs.put({ tenant, conversationId }, { ...file, content: Buffer.from(content) });
    await blobs.put({ tenant: `${tenant}x`, conversationId: 'never' }, file);
    expect(await engine.client.deleteTenant(tenant)).toEqual({ deleted: 6 });
    expect(await blobs.list({ tenant, limit: 9 })).toEqual([]);
    expect(await blobs.list({ tenant: `${tenant}x`, limit: 9 })).toHaveLength(1);
    expect(await webhooks.endpoint('hook')).toBeUndefined();
    const runs = `WorkflowId STARTS_WITH 'conversation:${tenant}' AND ExecutionStatus = 'Running'`;
    const running = async (): Promise<number> => (await engine.temporal.workflow.count(runs)).count;
    await until('one runs', running, { holds: (count) => count === 1 });
    expect((await engine.client.list({ tenant })).conversations).toEqual([]);
    expect((await other.snapshot()).status).toBe('awaiting_input');
    expect(await engine.client.deleteTenant(tenant)).toEqual({ deleted: 0 });
  },
);

test.each(STORES)(
  'closed conversations are deleted after the configured time, open ones never: %s',
  promise('G255'),
  async (_, store) => {
    const engine = await engineWith(script(says('one'), says('two'), says('three')), store);
    const [open, closed] = [engine.begin(), engine.begin()];
    for (const talk of [open, closed]) {
      await engine.say(talk, 'hi');
      await engine.log(talk);
    }
    await closed.close();
    const { log } = engine.opened;
    const hasEnded = async () => (await log.head(keyOf(closed)))?.snapshot.status === 'closed';
    await until('it is closed in the store', hasEnded);
    const isOver = async () => (await engine.handle(closed).describe()).status.name !== 'RUNNING';
    await until('its run is over', isOver);
    const day = 24 * 60 * 60 * 1_000;
    let now = Date.now();
    const keeper = housekeeping(engine, { closedAfterMs: 30 * day, now: () => now });
    now += 29 * day;
    expect(await keeper.pass()).toEqual({ resumed: 0, expired: 0, failed: 0 });
    now += 2 * day;
    expect(await keeper.pass()).toEqual({ resumed: 0, expired: 1, failed: 0 });
    await expectGone(engine, closed);
    expect((await open.snapshot()).status).toBe('idle');
    expect(await keeper.pass()).toMatchObject({ expired: 0, failed: 0 });
  },
);

test('a result that a tool returns after the deletion of its conversation does not stay in the store', {
  ...promise('G252'),
}, async () => {
  let isRunning = false;
  let end: (result: string) => void = () => undefined;
  const dump = defineTool({
    name: 'table.dump',
    description: 'Dumps a table.',
    input: z.object({}),
    maxResultBytes: 2_048,
    // A heartbeat would bring the cancellation, which ends the run before its result.
    timeouts: { heartbeat: '10 minutes' },
    // This tool ignores its abort signal.
    run: () => {
      isRunning = true;
      return new Promise<string>((resolve) => {
        end = resolve;
      });
    },
  });
  const model = script(calls('table.dump', {}), says('never'));
  const agent = defineAgent({ name: 'tables', instructions: 'Dump.', model, tools: [dump] });
  const opened = await openEventLog(`${temporaryFolder()}/log.db`);
  onTestFinished(() => opened.close());
  const done: string[] = [];
  const blobs = new Proxy(opened.blobs as BlobStore, {
    get:
      (store, name: keyof BlobStore) =>
      async (key: never, ...rest: never[]) => {
        const result: unknown = await Reflect.apply(store[name], store, [key, ...rest]);
        if (rest.length > 0) done.push(name);
        return result;
      },
  });
  const engine = await startEngine({ agents: [agent], eventLog: { ...opened, blobs } });
  const talk = engine.begin();
  await engine.send(talk, 'hi');
  await until('the tool runs', () => Promise.resolve(isRunning));
  await engine.client.deleteConversation(talk.id);
  expect(done).toEqual([]);
  end('x'.repeat(10_000));
  await until('it was put, and removed', () => Promise.resolve(done.join(' ')), {
    holds: (seen) => seen === 'put delete',
  });
  expect(await opened.blobs?.list({ limit: 9 })).toEqual([]);
});
