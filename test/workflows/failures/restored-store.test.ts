import { expect, onTestFinished, test } from 'vitest';
import type { Conversation } from '../../../src/client/index.js';
import { Executions } from '../../../src/client/temporal/executions.js';
import { calls, says, script } from '../../../src/model/scripted/scripted.js';
import { Projector } from '../../../src/projection/projector/projector.js';
import { Sweep } from '../../../src/projection/projector/sweep.js';
import { createWorkflowSource } from '../../../src/projection/source/workflow-source.js';
import type { CanonicalEvent } from '../../../src/protocol/log/events.js';
import { ledger, shop } from '../../support/engine/agents.js';
import { type Engine, startEngine } from '../../support/engine/engine.js';
import {
  type RestorableStore,
  restorablePostgres,
  restorableSqlite,
} from '../../support/fakes/restorable-stores.js';
import { removeRun } from '../../support/histories/remove-run.js';
import { patient } from '../../support/patience.js';
import { promise } from '../../support/promise.js';
import { until } from '../../support/until.js';

const QUESTION = calls('customer.ask', { question: 'A?' });

/** A conversation whose store holds only the first turn, because an old backup was restored. */
interface Restored {
  readonly id: string;
  /** An engine with a worker on the restored store. */
  readonly after: Engine;
  /** The events in the backup. */
  readonly saved: readonly CanonicalEvent[];
  /** The events in the store before the restore. */
  readonly all: readonly CanonicalEvent[];
}

interface Life {
  readonly say: (text: string, options?: { readonly reopen?: boolean }) => Promise<unknown>;
  readonly rollOver: () => Promise<void>;
  readonly close: () => Promise<void>;
  /** Has Temporal remove all runs before the current one. */
  readonly forget: () => Promise<void>;
}

async function restored(
  makeStore: () => Promise<RestorableStore>,
  live: (life: Life) => Promise<void>,
  closedMeanwhile?: string,
): Promise<Restored> {
  const store = await makeStore();
  const extra = closedMeanwhile === undefined ? [] : [says('lost soon')];
  const model = script(
    ...[says('one'), ...extra, says('two'), says('three'), says('four'), QUESTION],
  );
  const before = await startEngine({
    agents: [shop(model)],
    services: ledger(),
    eventLog: store.eventLog,
  });
  const { talk } = await before.ask('first');
  const saved = await before.log(talk);
  await store.backUp();
  if (closedMeanwhile !== undefined) {
    const other = before.client.conversation(closedMeanwhile, { agent: 'shop' });
    await before.say(other, 'of which the backup knows nothing');
    await closed(before, other);
  }
  const currentRun = async () => (await before.handle(talk).describe()).runId;
  await live({
    say: (text, options) => before.say(talk, text, options),
    rollOver: async () => {
      const run = await currentRun();
      await before.signal(talk, 'rollOver');
      await until('it rolled over', async () => (await currentRun()) !== run);
    },
    forget: async () => {
      const workflowId = before.workflowId(talk);
      const runs = await new Executions(before.temporal).all(keyOf(talk.id));
      const closedRuns = runs.filter(({ isRunning }) => !isRunning);
      await Promise.all(
        closedRuns.map(({ runId }) => removeRun(before.temporal, { workflowId, runId })),
      );
    },
    close: () => closed(before, talk),
  });
  const all = await before.log(talk);
  await before.close();
  await store.restore();
  const after = await startEngine({
    agents: [shop(script(says('six'), says('seven')))],
    services: ledger(),
    eventLog: store.eventLog,
    taskQueue: before.taskQueue,
  });
  return { id: talk.id, after, saved, all };
}

async function closed(engine: Engine, talk: Conversation): Promise<void> {
  await talk.close();
  const isOver = async () => (await engine.handle(talk).describe()).status.name !== 'RUNNING';
  await until('its run is over', isOver);
}

/** Sweeps until the stored log is as long as it was before the restore. */
async function sweptThrough({ id, after, all }: Restored): Promise<void> {
  const { log, live } = after.opened;
  const { taskQueue } = after;
  const source = createWorkflowSource(after.temporal, { taskQueue });
  const sweep = new Sweep({ log, source, projector: new Projector({ log, live, source }) });
  onTestFinished(() => sweep.stop());
  const refilled = async (): Promise<number> => {
    await sweep.pass();
    return (await log.head(keyOf(id)))?.lastSeq ?? 0;
  };
  await until('the log is as long as it was', refilled, {
    holds: (seq) => seq >= all.length,
  });
}

function keyOf(conversationId: string) {
  return { tenant: 'default', conversationId };
}

const STORES = [
  ['sqlite', restorableSqlite],
  ['postgres', restorablePostgres],
] as const;

test.each(STORES)(
  'a store restored from an old backup is refilled, over several roll-overs and a reopening: %s',
  promise('G228'),
  async (_, makeStore) => {
    const found = await restored(
      makeStore,
      async ({ say, rollOver, close }) => {
        await say('second');
        await rollOver();
        await say('third');
        await rollOver();
        await close();
        await say('fourth', { reopen: true });
        await rollOver();
        expect(await say('fifth')).toMatchObject({ status: 'waiting' });
      },
      `meanwhile-${makeStore.name}`,
    );
    const { id, after, saved, all } = found;
    expect(all.filter(({ type }) => type === 'rolled_over')).toHaveLength(3);
    expect((await after.opened.log.head(keyOf(id)))?.lastSeq).toBe(saved.length);
    await sweptThrough(found);
    const read = await after.opened.log.read(keyOf(id));
    expect(read).toMatchObject({ generation: 1, events: all });
    // A conversation that began and was closed after the backup is restored as well.
    const meanwhile = keyOf(`meanwhile-${makeStore.name}`);
    const status = async () => (await after.opened.log.head(meanwhile))?.snapshot.status;
    await until('it is back', status, { holds: (is) => is === 'closed' });
    expect((await after.opened.log.read(meanwhile))?.events.map(({ type }) => type)).toContain(
      'turn_ended',
    );
    // The open question can be listed and answered.
    const listed = await after.client.list({ pendingTool: 'customer.ask' });
    expect(listed.conversations.map(({ conversationId }) => conversationId)).toEqual([id]);
  },
);

test('events before a reopening that no run has any more are marked as lost from the state that its run restored', {
  ...promise('G229'),
  timeout: patient(300_000),
}, async () => {
  const found = await restored(restorableSqlite, async ({ say, close, forget }) => {
    await say('second');
    await close();
    await say('third', { reopen: true });
    await say('fourth');
    expect(await say('fifth')).toMatchObject({ status: 'waiting' });
    await forget();
  });
  const { id, after, saved, all } = found;
  await sweptThrough(found);
  const read = await after.opened.log.read(keyOf(id));
  expect(read?.events.map(({ seq }) => seq)).toEqual(all.map(({ seq }) => seq));
  const known = all.findLastIndex(({ type }) => type === 'conversation_started');
  const lost = read?.events.filter(({ type }) => type === 'events_lost').length ?? 0;
  expect(saved.length + lost).toBe(known);
  expect(read?.events.slice(known)).toEqual(all.slice(known));
  const { generation: _generation, title: _title, ...snapshot } = await after.snapshot({ id });
  expect(snapshot).toEqual(await after.query(id, 'snapshot'));
});

test.each(STORES)(
  'events that no run has any more are marked as lost in a restored store, and the conversation continues, is closed and reopened: %s',
  { ...promise('G229'), timeout: patient(300_000) },
  async (_, makeStore) => {
    const found = await restored(makeStore, async ({ say, rollOver, forget }) => {
      await say('second');
      await rollOver();
      await say('third');
      await rollOver();
      await say('fourth');
      expect(await say('fifth')).toMatchObject({ status: 'waiting' });
      await forget();
    });
    const { id, after, saved, all } = found;
    await sweptThrough(found);
    // The last run began after the last event of its predecessor.
    const known = all.findLastIndex(({ type }) => type === 'rolled_over') + 1;
    const read = await after.opened.log.read(keyOf(id));
    expect(read?.events.map(({ seq }) => seq)).toEqual(all.map(({ seq }) => seq));
    const outline = read?.events.map(({ type }) => type) ?? [];
    expect(read?.events.slice(0, saved.length)).toEqual(saved);
    const lost = outline.filter((type) => type === 'events_lost').length;
    expect(lost).toBeGreaterThan(0);
    expect(saved.length + lost).toBeLessThanOrEqual(known);
    expect(read?.events.slice(saved.length + lost)).toEqual(all.slice(saved.length + lost));
    // Readers see the conversation as the workflow does.
    const { generation: _generation, title: _title, ...snapshot } = await after.snapshot({ id });
    expect(snapshot).toEqual(await after.query(id, 'snapshot'));
    const talk = after.client.conversation(id, { agent: 'shop' });
    const { pending } = await talk.snapshot();
    const answer = { type: 'answer', value: { answer: '42' } } as const;
    expect(await talk.resolve(pending[0]?.toolCallId ?? '', answer)).toMatchObject({
      verdict: 'accepted',
    });
    await after.idle(talk);
    await closed(after, talk);
    expect(await after.say(talk, 'sixth', { reopen: true })).toMatchObject({
      status: 'completed',
      text: 'seven',
    });
    const events = await after.log(talk);
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_event, index) => index + 1));
  },
);
