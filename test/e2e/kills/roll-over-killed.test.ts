/**
 * One SIGKILL hits a worker in every step of a roll-over at once: each conversation is held in another step, by a gate
 * between the worker and the server, while answers, a message and queries arrive. Nothing is lost, nothing is done
 * twice, and answers from before the roll-over are judged as before.
 */
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { PendingCall } from '../../../src/protocol/calls/suspensions.js';
import { EngineHistory } from '../../support/engine/history.js';
import { bundleFromSource } from '../../support/engine/workflow-bundle.js';
import { promise } from '../../support/promise.js';
import { until } from '../../support/until.js';
import type { Reply } from '../support/api.js';
import type { GatedCall, Held } from '../support/grpc-gate.js';
import {
  askAbout,
  expectWhole,
  isAbout,
  untilHeld,
  warmUp,
  wholeLog,
} from '../support/killed-talks.js';
import { juggle } from '../support/random/juggler-model.js';
import type { Talk } from '../support/talk.js';
import { startWorld, type World } from '../support/world.js';

const AGENTS = new URL('../fixtures/broken/crashing.ts', import.meta.url).pathname;
const YES = { type: 'answer', value: { answer: 'yes' } } as const;

interface Step {
  readonly name: string;
  readonly side: 'request' | 'reply';
  /** Selects the call in which the worker is killed. Evaluated for every call of the worker, in order. */
  readonly wanted: (talk: Talk) => (call: GatedCall) => boolean;
  /** Whether the server has begun a new run by then. */
  readonly isOver: boolean;
}

const taskDone = (talk: Talk) => isAbout(talk, 'RespondWorkflowTaskCompleted');
const flushDone = (talk: Talk) => (call: GatedCall) =>
  isAbout(talk, 'RespondActivityTaskCompleted')(call) && call.body.includes('flushLog');
const flushOrdered = (talk: Talk) => (call: GatedCall) =>
  taskDone(talk)(call) && call.body.includes('flushLog');

/** The nth workflow task that the worker completes after the end of the flush. */
const taskAfterFlush =
  (nth: number) =>
  (talk: Talk): ((call: GatedCall) => boolean) => {
    let isFlushed = false;
    let tasks = 0;
    return (call) => {
      isFlushed ||= flushDone(talk)(call);
      if (!isFlushed || !taskDone(talk)(call)) return false;
      tasks += 1;
      return tasks === nth;
    };
  };

const midFlush = (talk: Talk): ((call: GatedCall) => boolean) => {
  let isFlushing = false;
  return (call) => {
    isFlushing ||= flushOrdered(talk)(call);
    return isFlushing && isAbout(talk, 'DescribeWorkflowExecution')(call);
  };
};

const STEPS: readonly Step[] = [
  {
    name: 'before the log is flushed',
    side: 'request',
    wanted: flushOrdered,
    isOver: false,
  },
  {
    name: 'while the log is flushed',
    side: 'request',
    wanted: midFlush,
    isOver: false,
  },
  {
    name: 'after the log is flushed and before the server knows',
    side: 'request',
    wanted: flushDone,
    isOver: false,
  },
  {
    name: 'before the new run is committed',
    side: 'request',
    wanted: taskAfterFlush(1),
    isOver: false,
  },
  {
    name: 'after the new run is committed and before the worker knows',
    side: 'reply',
    wanted: taskAfterFlush(1),
    isOver: true,
  },
  {
    name: 'in the first task of the new run',
    side: 'request',
    wanted: taskAfterFlush(2),
    isOver: true,
  },
];

let world: World;
let code: string;

beforeAll(async () => {
  world = await startWorld({ agents: AGENTS, script: juggle, gated: true });
  code = await bundleFromSource();
  await warmUp(world);
});
afterAll(() => world.stop());

/** A conversation in whose roll-over the worker is killed. */
interface Wreck {
  readonly talk: Talk;
  /** Two questions, one that expires soon, and an approval; the first is already answered. */
  readonly calls: readonly PendingCall[];
  readonly held: Held;
  /** Replies to inputs that were sent while the worker was held, before its kill. */
  readonly replies: readonly Promise<Reply>[];
}

function key(requestId: string): Record<string, string> {
  return { 'idempotency-key': requestId };
}

async function currentRun(talk: Talk): Promise<string> {
  return (await new EngineHistory(world.temporal).describe(talk.workflowId)).runId;
}

async function beginRollOver({ side, wanted, isOver }: Step, id: string): Promise<Wreck> {
  const talk = world.talk(id);
  await talk.begin('crasher', `do ${id}.1: ask ask soon pay`, { mayWait: true });
  const calls = await talk.waitingCalls(4);
  const given = await talk.resolve(idOf(calls, 0), YES, { headers: key('r1') });
  expect(given).toMatchObject({ status: 200, body: { verdict: 'accepted' } });
  const runBefore = await currentRun(talk);
  const held = world.gate.hold(side, wanted(talk));
  const handle = world.temporal.workflow.getHandle(talk.workflowId);
  await handle.signal('rollOver');
  await untilHeld(world, talk, held);
  expect((await currentRun(talk)) !== runBefore, talk.id).toBe(isOver);
  const approval = { toolCallId: idOf(calls, 3), resolution: { type: 'approve' } };
  await handle.signal('resolveToolCall', { ...approval, actor: { id: 'boss' }, requestId: 'r3' });
  const message = { text: `do ${id}.2: glance`, onBusy: 'queue' };
  const replies = [
    talk.resolve(idOf(calls, 1), YES, { headers: key('r2') }),
    talk.call('/messages', { body: message }),
  ];
  return { talk, calls, held, replies };
}

async function runCount(talk: Talk): Promise<number> {
  return (await new EngineHistory(world.temporal).runs(talk.workflowId)).length;
}

/**
 * Requests a roll-over and holds one of its calls. On a busy machine a roll-over may end without that call, for
 * instance when its flush is given up: then the next one is tried.
 */
async function heldInRollOver(
  talk: Talk,
  wanted: (talk: Talk) => (call: GatedCall) => boolean,
): Promise<Held> {
  for (let tried = 1; ; tried += 1) {
    const held = world.gate.hold('request', wanted(talk));
    await world.temporal.workflow.getHandle(talk.workflowId).signal('rollOver');
    try {
      await untilHeld(world, talk, held);
      return held;
    } catch (error) {
      held.drop();
      if (tried === 3) throw error;
    }
  }
}

/** After an interrupted roll-over the server first has to time out a lost activity. */
async function hasBegun(talk: Talk, run: number): Promise<void> {
  const runs = (): Promise<number> => runCount(talk);
  await until(`run ${run} has begun`, runs, { holds: (seen) => seen === run, timeoutMs: 90_000 });
}

async function underWay(talk: Talk): Promise<readonly string[]> {
  const { raw } = await world.temporal.workflow.getHandle(talk.workflowId).describe();
  return (raw.pendingActivities ?? []).map(({ activityType }) => activityType?.name ?? '');
}

function idOf(calls: readonly PendingCall[], index: number): string {
  return calls[index]?.toolCallId ?? '';
}

describe('a worker that is killed while conversations roll over', () => {
  let wrecks: readonly Wreck[] = [];
  const ids = STEPS.map((_, index) => `k${index}`);
  // The function that it returns is called afterwards.
  beforeAll(() => askAbout(world, ids));

  it('is held in every step of a roll-over, and killed', async () => {
    wrecks = await Promise.all(STEPS.map((step, index) => beginRollOver(step, ids[index] ?? '')));
    await world.stack.worker().kill();
    for (const { held } of wrecks) held.drop();
    await world.stack.startWorker();
  });

  it.each(STEPS)('loses nothing and does nothing twice: $name', promise('G208'), async (step) => {
    const wreck = wrecks[STEPS.indexOf(step)];
    if (wreck === undefined) throw new Error('was not held');
    const { talk, calls } = wreck;
    const [answered, sent] = await Promise.all(wreck.replies);
    expect(answered?.body['verdict']).toMatch(/^(accepted|queued)$/);
    expect(sent?.status).toBe(202);
    const events = await wholeLog(world, talk, 2);
    const finale = `do ${talk.id}.2: glance`;
    const runs = await expectWhole(world, talk, { events, code, finale });
    expect(runs).toHaveLength(2);
    expect(events.filter(({ type }) => type === 'user_message')).toHaveLength(2);
    expect(events.filter(({ type }) => type === 'turn_ended')).toMatchObject([
      { status: 'completed', text: `${talk.id}.1 is done` },
      { status: 'completed', text: `${talk.id}.2 is done` },
    ]);
    const resolved = events.flatMap((event) =>
      event.type === 'resolution' ? [event.toolCallId] : [],
    );
    expect(resolved.toSorted()).toEqual([0, 1, 3].map((index) => idOf(calls, index)).toSorted());
    const expired = events.filter(({ type }) => type === 'expired');
    expect(expired).toMatchObject([{ toolCallId: idOf(calls, 2) }]);
    expect(events.filter(({ type }) => type === 'resolution_refused')).toEqual([]);
    const paid = (await world.lines('runs.jsonl')).filter(
      (run) => run['conversationId'] === talk.id && run['name'] === 'pay',
    );
    const paidResult = events.find(
      (event) => event.type === 'tool_result' && event.toolCallId === idOf(calls, 3),
    );
    // If the new run had begun, the kill may have hit the tool itself, which is never repeated.
    if (step.isOver && JSON.stringify(paidResult).includes('"outcome_unknown"'))
      expect(paid.length).toBeLessThanOrEqual(1);
    else expect(paid).toMatchObject([{ attempt: 1 }]);
  });

  it.each(STEPS)(
    'judges later inputs as if there had been no kill: $name',
    promise('G208'),
    async (step) => {
      const { talk, calls } = wrecks[STEPS.indexOf(step)] ?? {};
      if (talk === undefined || calls === undefined) throw new Error('was not held');
      const again = await talk.resolve(idOf(calls, 0), YES, { headers: key('r1') });
      expect(again.body).toMatchObject({ verdict: 'duplicate', first: { verdict: 'accepted' } });
      const other = await talk.resolve(idOf(calls, 0), YES, { headers: key('r9') });
      expect(other).toMatchObject({ status: 409, body: { verdict: 'stale' } });
      const repeated = await talk.resolve(idOf(calls, 1), YES, { headers: key('r2') });
      expect(repeated.body).toMatchObject({ verdict: 'duplicate', first: { verdict: 'accepted' } });
      const byHand = await talk.resolve(idOf(calls, 3), { type: 'approve' });
      expect(byHand).toMatchObject({ status: 409, body: { verdict: 'stale', by: 'boss' } });
    },
  );
});

describe('a worker that is killed in consecutive roll-overs', () => {
  it('leaves a conversation that rolls over each time, and ends every turn', {
    ...promise('G208'),
  }, async () => {
    const talk = world.talk('often');
    onTestFinished(askAbout(world, [talk.id]));
    await talk.begin('crasher', `do ${talk.id}.0: ask`);
    const handle = world.temporal.workflow.getHandle(talk.workflowId);
    const calls = await talk.waitingCalls(1);
    const points = [taskAfterFlush(1), taskAfterFlush(2)];
    for (const [index, wanted] of points.entries()) {
      const held = await heldInRollOver(talk, wanted);
      const runs = await runCount(talk);
      const text = `do ${talk.id}.${index + 1}: glance`;
      await handle.signal('sendMessage', { text, requestId: `m${index}`, onBusy: 'queue' });
      await world.stack.worker().kill();
      held.drop();
      await world.stack.startWorker();
      // The first kill comes before its new run is committed, the second in the first task of that run.
      await hasBegun(talk, index === 0 ? runs + 1 : runs);
    }
    const { body } = await talk.resolve(idOf(calls, 0), YES);
    expect(body['verdict']).toMatch(/^(accepted|queued)$/);
    const events = await wholeLog(world, talk, 3);
    await expectWhole(world, talk, { events, code, finale: `do ${talk.id}.2: glance` });
    expect(events.filter(({ type }) => type === 'turn_ended')).toHaveLength(3);
  });
});

describe('a worker that is killed while a roll-over stores the oldest turns', () => {
  const offloadDone = (talk: Talk) => (call: GatedCall) =>
    isAbout(talk, 'RespondActivityTaskCompleted')(call) && call.body.includes('offloadTranscript');
  const points = [offloadDone, taskAfterFlush(2)];
  const notesOf = (id: string) =>
    [1, 2, 3].map((ordinal) => `${id} note ${ordinal}: ${`${ordinal}`.repeat(120_000)}`);
  const talks = (): readonly Talk[] => points.map((_, index) => world.talk(`long${index}`));

  it('is held after storing them unacknowledged, and in the first task of the new run', async () => {
    for (const [index, talk] of talks().entries()) {
      const [first = '', ...others] = notesOf(talk.id);
      onTestFinished(askAbout(world, [talk.id]));
      await talk.begin('hoarder', first);
      for (const [turn, text] of others.entries()) {
        await talk.ended(turn + 1);
        await talk.call('/messages', { body: { text } });
      }
      await talk.ended(3);
      const held = world.gate.hold('request', points[index]!(talk));
      const handle = world.temporal.workflow.getHandle(talk.workflowId);
      await handle.signal('rollOver');
      await untilHeld(world, talk, held);
      // A flush lost with the worker would leave more unacknowledged events than a roll-over carries, which would then
      // have to wait.
      await until('at most the storing is under way', () => underWay(talk), {
        holds: (names) => names.every((name) => name === 'offloadTranscript'),
        timeoutMs: 60_000,
      });
      const text = `do ${talk.id}.4: glance`;
      await handle.signal('sendMessage', { text, requestId: 'm1', onBusy: 'queue' });
      await world.stack.worker().kill();
      held.drop();
      await world.stack.startWorker();
    }
  });

  it('loses nothing: the model reads every turn, including the stored ones', {
    ...promise('G195'),
  }, async () => {
    for (const talk of talks()) {
      const finale = `do ${talk.id}.4: glance`;
      await hasBegun(talk, 2);
      const events = await wholeLog(world, talk, 4);
      const runs = await expectWhole(world, talk, { events, code, finale });
      expect(runs).toHaveLength(2);
      const last = world.model.requests
        .map(({ body }) => JSON.stringify(body))
        .findLast((body) => body.includes(finale));
      for (const note of notesOf(talk.id)) expect(last).toContain(note);
    }
  });
});

describe('a worker that is killed while a roll-over stores steps of the running turn', () => {
  const offloadDone = (talk: Talk) => (call: GatedCall) =>
    isAbout(talk, 'RespondActivityTaskCompleted')(call) && call.body.includes('offloadTranscript');
  const points = [offloadDone, taskAfterFlush(2)];
  const plan = (id: string): string => `do ${id}.1: ${'dump '.repeat(8)}| glance`;

  it.each([0, 1])(
    'leaves the turn to another worker, which continues with all of it (%i)',
    promise('G189'),
    async (index) => {
      const talk = world.talk(`turn${index}`);
      onTestFinished(askAbout(world, [talk.id]));
      const held = world.gate.hold('request', points[index]!(talk));
      await talk.begin('hoarder', plan(talk.id));
      await untilHeld(world, talk, held);
      await until('at most the storing is under way', () => underWay(talk), {
        holds: (names) => names.every((name) => name === 'offloadTranscript'),
        timeoutMs: 60_000,
      });
      await world.stack.worker().kill();
      held.drop();
      await world.stack.startWorker();
      const events = await wholeLog(world, talk, 1);
      await expectWhole(world, talk, { events, code, finale: plan(talk.id) });
      expect(events.find(({ type }) => type === 'turn_ended')).toMatchObject({
        status: 'completed',
        text: `${talk.id}.1 is done`,
      });
      expect(events.find(({ type }) => type === 'rolled_over')).toMatchObject({
        reason: 'turn_size',
        droppedMessages: 0,
      });
      const last = JSON.stringify(world.model.requests.at(-1)?.body);
      for (let call = 0; call < 8; call += 1) expect(last).toContain(`${talk.id}.1.0.${call} ddd`);
    },
  );
});
