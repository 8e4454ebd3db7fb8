/**
 * Every reason to roll over, and every input that may arrive during a roll-over: the store is held, so that the run
 * stays between its last task and the next run while messages, answers, approvals, extensions, claims, signals and
 * events arrive and a deadline passes.
 */
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import type { CanonicalEvent, RollOverReason } from '../../../src/protocol/log/events.js';
import type { RollOverBounds } from '../../../src/protocol/workflow/messaging.js';
import { replayAll } from '../../support/engine/replay.js';
import { bundleFromSource } from '../../support/engine/workflow-bundle.js';
import {
  ANN,
  ASK,
  CART,
  type LoadedRun,
  PAY,
  pushUntilRollOver,
  SLIP,
  sendEveryInput,
  startLoadedRun,
  WAIT,
  YES,
} from '../../support/histories/loaded-run.js';
import { patient } from '../../support/patience.js';
import { promise } from '../../support/promise.js';
import { type DevServer, startDevServer } from '../../support/servers/dev-server.js';
import { until } from '../../support/until.js';

const EVENTS_BEFORE_SUGGESTION = 60;

let suggesting: DevServer;
let code = '';

beforeAll(async () => {
  suggesting = await startDevServer({
    dynamicConfig: { 'limit.historyCount.suggestContinueAsNew': EVENTS_BEFORE_SUGGESTION },
  });
  code = await bundleFromSource();
});
afterAll(() => suggesting.stop());

interface Reason {
  readonly reason: RollOverReason;
  readonly bounds: RollOverBounds;
  readonly suggests?: true;
  readonly push: (loaded: LoadedRun, count: number) => Promise<unknown>;
}

const extendWait = async ({ talk }: LoadedRun, count: number): Promise<unknown> =>
  await talk.extend(WAIT, { by: '1 minute', requestId: `w${count}` });

const REASONS: readonly Reason[] = [
  {
    reason: 'requested',
    bounds: {},
    push: async ({ engine, talk }) => await engine.signal(talk, 'rollOver'),
  },
  { reason: 'suggested', bounds: {}, suggests: true, push: extendWait },
  { reason: 'history_size', bounds: { bytes: 14_000 }, push: extendWait },
  { reason: 'history_events', bounds: { events: 50 }, push: extendWait },
  { reason: 'update_count', bounds: { updates: 4 }, push: extendWait },
  {
    reason: 'signal_count',
    bounds: { signals: 3 },
    push: async ({ engine, talk }) => {
      await engine.signal(talk, 'resolveToolCall', { toolCallId: 'none', resolution: {} });
    },
  },
];

function count(log: readonly CanonicalEvent[], type: CanonicalEvent['type']): number {
  return log.filter((event) => event.type === type).length;
}

test.each(REASONS)(
  'any input that comes while a run rolls over ($reason) is taken once and judged correctly by the next run',
  { ...promise('G201'), timeout: patient(120_000) },
  async ({ reason, bounds, suggests, push }) => {
    const address = suggests === true ? suggesting.address : inject('temporalAddress');
    const loaded = await startLoadedRun(address, bounds);
    const { engine, talk, store, paid } = loaded;
    const [firstRun] = await engine.history.runs(engine.workflowId(talk));
    await pushUntilRollOver(loaded, (times) => push(loaded, times));
    const replies = await sendEveryInput(loaded);
    store.release();
    const [ann, bob, extended, claimed, sent, noted] = replies;
    expect(
      [ann, bob].map((verdict) => (verdict as { verdict: string }).verdict).toSorted(),
    ).toEqual(['accepted', 'stale']);
    expect(extended).toMatchObject({ verdict: 'accepted' });
    expect(claimed).toMatchObject({ verdict: 'accepted' });
    expect(sent).toMatchObject({ status: 'admitted' });
    expect(noted).toMatchObject({ seq: expect.any(Number) as number });
    await until('a new run has begun', () => engine.history.describe(engine.workflowId(talk)), {
      holds: ({ runId }) => runId !== firstRun,
    });

    // The next run judges as its predecessor would have.
    const verdicts = await Promise.all([
      talk.resolve(ASK, YES, { requestId: 'a1', ...ANN }),
      talk.resolve(ASK, YES, { requestId: 'a3' }),
      talk.extend(CART, { by: '5 minutes', requestId: 'e1' }),
      talk.claim(CART, { requestId: 'c2', actor: { id: 'bob' } }),
      talk.resolve(PAY, { type: 'deny' }),
    ]);
    const [again, other, extendedAgain, taken, denied] = verdicts.map(
      (verdict) => (verdict as { verdict: string }).verdict,
    );
    const annWon = (ann as { verdict: string }).verdict === 'accepted';
    expect(again).toBe(annWon ? 'duplicate' : 'stale');
    expect([other, extendedAgain, taken, denied]).toEqual(['stale', 'duplicate', 'stale', 'stale']);
    expect(await talk.send('second', { requestId: 'm2' })).toMatchObject({ duplicate: true });

    await until('the short question has expired', () => engine.snapshot(talk), {
      holds: ({ pending }) => !pending.some(({ toolCallId }) => toolCallId === SLIP),
    });
    const { claimId } = claimed as { readonly claimId: string };
    const read = { type: 'result', value: { items: ['tea'] } } as const;
    expect(await talk.resolve(CART, read)).toMatchObject({ verdict: 'stale' });
    const byHolder = await talk.resolve(CART, read, { ...ANN, claimId });
    expect(byHolder).toMatchObject({ verdict: 'accepted' });
    await talk.resolve(WAIT, YES, ANN);
    await engine.idle(talk);
    const ended = async (): Promise<number> => count(await engine.log(talk), 'turn_ended');
    await until('all turns have ended', ended, { holds: (turns) => turns >= 3 });
    await engine.idle(talk);
    await expectWhole(loaded, reason);
    expect(paid).toHaveLength(1);
  },
);

async function expectWhole({ engine, talk }: LoadedRun, reason: RollOverReason): Promise<void> {
  const log = await engine.log(talk);
  const types = ['user_message', 'inbox_event', 'expired', 'claimed', 'resolution'] as const;
  expect(Object.fromEntries(types.map((type) => [type, count(log, type)]))).toEqual({
    user_message: 3,
    inbox_event: 1,
    expired: 1,
    claimed: 1,
    resolution: 4,
  });
  expect(log.filter(({ type }) => type === 'tool_result')).toMatchObject(
    [ASK, WAIT, SLIP, PAY, CART].map(() => ({ result: { status: expect.any(String) as string } })),
  );
  expect(
    new Set(log.flatMap((event) => (event.type === 'tool_result' ? [event.toolCallId] : []))).size,
  ).toBe(5);
  expect(
    log.filter((event) => event.type === 'turn_ended' && event.status !== 'completed'),
  ).toEqual([]);
  const reasons = log.flatMap((event) => (event.type === 'rolled_over' ? [event.reason] : []));
  expect(reasons[0]).toBe(reason);
  const head = await engine.opened.log.head({ tenant: 'default', conversationId: talk.id });
  expect(head?.generation).toBe(1);
  const workflowId = engine.workflowId(talk);
  const runs = await engine.history.runs(workflowId);
  expect(reasons).toHaveLength(runs.length - 1);
  const histories: { workflowId: string; history: unknown }[] = [];
  for (const runId of runs) {
    expect(await engine.history.failedTasks(workflowId, runId)).toEqual([]);
    const handle = engine.temporal.workflow.getHandle(workflowId, runId);
    histories.push({ workflowId, history: await handle.fetchHistory() });
  }
  await replayAll({ code }, histories);
}

test('a turn that is cancelled while its run rolls over ends once, and the next run records it', {
  ...promise('G201'),
  timeout: patient(120_000),
}, async () => {
  const loaded = await startLoadedRun(inject('temporalAddress'), {});
  const { engine, talk, store, paid } = loaded;
  await pushUntilRollOver(loaded, async () => {
    await engine.signal(talk, 'rollOver');
  });
  await talk.send('second', { requestId: 'm2' });
  const cancelled = await talk.cancel();
  expect(cancelled).toMatchObject({ cancelled: true });
  await engine.signal(talk, 'cancelTurn', {});
  store.release();
  const ends = async (): Promise<readonly CanonicalEvent[]> =>
    (await engine.log(talk)).filter(({ type }) => type === 'turn_ended');
  const [first, second] = await until('both turns have ended', ends, {
    holds: (found) => found.length === 2,
  });
  expect(first).toMatchObject({ status: 'cancelled' });
  expect(second).toMatchObject({ status: expect.stringMatching(/cancelled|completed/) as string });
  expect(await talk.resolve(PAY, { type: 'approve' })).toMatchObject({ verdict: 'stale' });
  expect(paid).toEqual([]);
  const log = await engine.log(talk);
  const results = log.flatMap((event) =>
    event.type === 'tool_result' ? [event.result.status] : [],
  );
  expect(results).toHaveLength(5);
  expect(new Set(results)).toEqual(new Set(['cancelled']));
  expect(await engine.history.runs(engine.workflowId(talk))).toHaveLength(2);
});

test('a conversation that is closed while its run rolls over is closed, and begins no new run', {
  ...promise('G201'),
  timeout: patient(120_000),
}, async () => {
  const loaded = await startLoadedRun(inject('temporalAddress'), {});
  const { engine, talk, store } = loaded;
  await pushUntilRollOver(loaded, async () => {
    await engine.signal(talk, 'rollOver');
  });
  const closing = talk.close();
  await engine.signal(talk, 'sendMessage', { text: 'too late', requestId: 'm9' });
  store.release();
  await closing;
  const status = async (): Promise<string> =>
    (await engine.history.describe(engine.workflowId(talk))).status.name;
  await until('the workflow has ended', status, {
    holds: (name) => name === 'COMPLETED',
  });
  const log = await engine.log(talk);
  expect(count(log, 'rolled_over')).toBe(0);
  expect(count(log, 'conversation_closed')).toBe(1);
});
