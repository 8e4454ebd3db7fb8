/**
 * Readers become current soon after a worker was lost with events that it had not stored: another worker checks at its
 * start, during replay, and after it refused an input. The store of the lost worker is down until that worker has
 * ended, so that none of its notifications is stored.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import proto from '@temporalio/proto';
import { expect, onTestFinished, test } from 'vitest';
import type { Conversation } from '../../../src/client/index.js';
import { calls, says, script } from '../../../src/model/scripted/scripted.js';
import { HistoryProbe } from '../../../src/projection/source/history-probe.js';
import { createFindCompletion } from '../../../src/projection/source/task-commit.js';
import { createWorkflowSource, leaseName } from '../../../src/projection/source/workflow-source.js';
import { HINT_SINK, type Hint } from '../../../src/protocol/workflow/messaging.js';
import { createLocalLiveChannel } from '../../../src/store/live/local.js';
import type { EventLog } from '../../../src/store/ports/log.js';
import { ledger, shop } from '../../support/engine/agents.js';
import { type Engine, startEngine } from '../../support/engine/engine.js';
import { openSqliteEventLog } from '../../support/event-logs.js';
import { type BreakableLog, breakable } from '../../support/fakes/breakable-log.js';
import { promise } from '../../support/promise.js';
import { until } from '../../support/until.js';

const { TaskQueueKind } = proto.temporal.api.enums.v1;

const TWO_QUESTIONS = [
  calls('customer.ask', { question: 'A?' }),
  calls('customer.ask', { question: 'B?' }),
  says('done'),
] as const;
const YES = { type: 'answer', value: { answer: 'yes' } } as const;

interface Scene {
  readonly engine: Engine;
  readonly store: BreakableLog;
  readonly log: EventLog;
  readonly talk: Conversation;
}

/**
 * A conversation with its first question answered and its second open. No reader knows of the second, because the
 * worker was lost with it.
 */
async function lostWithAQuestion(): Promise<Scene> {
  const folder = mkdtempSync(join(tmpdir(), 'colloquy-loss-'));
  const log = await openSqliteEventLog({ file: join(folder, 'log.db') });
  onTestFinished(async () => {
    await log.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const store = breakable(log);
  const live = createLocalLiveChannel();
  const engine = await startEngine({
    agents: [shop(script(...TWO_QUESTIONS))],
    services: ledger(),
    eventLog: { log, live },
    workerLog: { log: store.log, live },
  });
  const { talk } = await engine.ask();
  await until('the first question is stored', () => shown(log, talk), {
    holds: (ids) => ids.includes('call_1'),
  });
  store.isDown = true;
  expect((await talk.resolve('call_1', YES)).verdict).toBe('accepted');
  await until('the second question is open', () => engine.snapshot(talk), {
    holds: ({ pending }) => pending[0]?.toolCallId === 'call_2',
  });
  await engine.stopWorker();
  store.isDown = false;
  expect(await shown(log, talk)).toEqual(['call_1']);
  return { engine, store, log, talk };
}

async function shown(log: EventLog, talk: Conversation): Promise<readonly string[]> {
  const head = await log.head({ tenant: 'default', conversationId: talk.id });
  return head?.snapshot.pending.map(({ toolCallId }) => toolCallId) ?? [];
}

/** Wraps the log and collects the names of its calls. */
function noting(log: EventLog, called: string[]): EventLog {
  return new Proxy(log, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]): unknown => {
        called.push(String(name));
        return Reflect.apply(value, target, args) as unknown;
      };
    },
  });
}

/** Holds the leases of the sweep and of the start-up check, so that the worker under test leaves both to others. */
async function leaveTheRestToOthers(log: EventLog, taskQueue: string): Promise<void> {
  for (const work of ['sweep', 'startup-check'])
    await log.acquireLease({
      name: leaseName(work, { taskQueue }),
      holder: 'another',
      ttlMs: 60_000,
    });
}

async function isCurrent(log: EventLog, talk: Conversation): Promise<void> {
  await until('readers see the second question alone', () => shown(log, talk), {
    holds: (ids) => ids.length === 1 && ids[0] === 'call_2',
  });
}

test('a worker that starts makes events visible that a lost worker had not stored, without any request', {
  ...promise('G235'),
}, async () => {
  const { engine, log, talk } = await lostWithAQuestion();
  await log.acquireLease({ name: leaseName('sweep', engine), holder: 'another', ttlMs: 60_000 });
  await engine.startWorker();
  await isCurrent(log, talk);
});

test('when a worker is lost and not replaced, the others notice and make its unstored events visible', {
  ...promise('G233'),
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'colloquy-loss-'));
  const log = await openSqliteEventLog({ file: join(folder, 'log.db') });
  onTestFinished(async () => {
    await log.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const store = breakable(log);
  const live = createLocalLiveChannel();
  const agents = [shop(script(...TWO_QUESTIONS))];
  const shared = { agents, services: ledger(), eventLog: { log, live } };
  const lost = await startEngine({ ...shared, workerLog: { log: store.log, live } });
  // Holds the lease of the sweep, so that no sweep finds the events first.
  await log.acquireLease({ name: leaseName('sweep', lost), holder: 'another', ttlMs: 60_000 });
  const { talk } = await lost.ask();
  await until('the first question is stored', () => shown(log, talk), {
    holds: (ids) => ids.includes('call_1'),
  });
  const { taskQueue } = lost;
  const called: string[] = [];
  await startEngine({
    ...{ ...shared, taskQueue, tuning: { identity: 'the other worker' } },
    workerLog: { log: noting(log, called), live },
  });
  await until('both are there', () => log.liveWorkers(), { holds: ({ length }) => length === 2 });
  // Usually over within a second. A check that fails, or that the first worker makes for both, leaves no trace here.
  const isChecked = (): boolean => called.includes('notOpen');
  await until('the check at the start is over', isChecked, { timeoutMs: 10_000 }).catch(
    () => undefined,
  );
  // The worker continues, but its writes fail.
  store.isDown = true;
  expect((await talk.resolve('call_1', YES)).verdict).toBe('accepted');
  await isCurrent(log, talk);
});

test('a worker that replays a conversation makes all of its events visible to readers', {
  ...promise('G236'),
}, async () => {
  const { engine, log, talk } = await lostWithAQuestion();
  await leaveTheRestToOthers(log, engine.taskQueue);
  await engine.startWorker();
  // The query of the Temporal UI makes the worker replay the run.
  await engine.query(talk.id, 'snapshot');
  await isCurrent(log, talk);
});

test('a replay brings its events, and the history proves their tasks, although another worker completed them', {
  ...promise('G236'),
}, async () => {
  const hints: Hint[] = [];
  const fn = (_info: unknown, hint: Hint): void => {
    hints.push(hint);
  };
  const tuning = { sinks: { [HINT_SINK]: { hint: { fn, callDuringReplay: true } } } };
  const agents = [shop(script(...TWO_QUESTIONS))];
  const engine = await startEngine({ agents, services: ledger(), tuning });
  const talk = engine.begin();
  await engine.send(talk, 'hello');
  const { seq } = await engine.reaches(talk, 'awaiting_input');
  const live = hints.flatMap(({ pushed }) => pushed ?? []);
  await engine.stopWorker();
  hints.length = 0;
  await engine.startWorker({ ...tuning, identity: 'the other worker' });
  await engine.query(talk.id, 'snapshot');
  await until('the replay is over', () => hints.some((hint) => hint.seq === seq));
  const replayed = hints.flatMap(({ pushed }) => pushed ?? []);
  expect(replayed).toEqual(live);
  const probe = new HistoryProbe(engine.temporal);
  const completion = createFindCompletion(probe, { identity: 'the other worker' });
  const { task: id = 0, startedAt = 0 } = replayed.at(-1) ?? {};
  const { runId = '' } = hints.at(-1) ?? {};
  const key = { tenant: 'default', conversationId: talk.id };
  const target = { runId, task: { id, startedAt }, pushedAt: 0 };
  expect(await completion(key, { ...target, byAnyWorker: true })).toBeDefined();
  expect(await completion(key, target)).toBeUndefined();
});

test('an answer to a question that is over is refused once, after which readers see the open question', {
  ...promise('G236'),
}, async () => {
  const { engine, log, talk } = await lostWithAQuestion();
  await leaveTheRestToOthers(log, engine.taskQueue);
  await engine.startWorker();
  const late = await talk.resolve('call_1', YES);
  expect(late).toMatchObject({ verdict: 'stale', why: 'already_resolved' });
  await isCurrent(log, talk);
});

test('a worker that holds the run publishes a hint after each refusal, and leaves no history of it', {
  ...promise('G236'),
}, async () => {
  const hints: Hint[] = [];
  const engine = await startEngine({
    agents: [shop(script(...TWO_QUESTIONS))],
    services: ledger(),
    tuning: {
      sinks: {
        [HINT_SINK]: {
          hint: {
            fn: (_info: unknown, hint: Hint) => {
              hints.push(hint);
            },
            callDuringReplay: true,
          },
        },
      },
    },
  });
  const talk = engine.begin();
  await engine.send(talk, 'hello');
  const { seq } = await engine.reaches(talk, 'awaiting_input');
  hints.length = 0;
  const length = (await engine.handle(talk).describe()).historyLength;
  const wrong = await talk.resolve('call_1', { type: 'approve' });
  expect(wrong.verdict).toBe('stale');
  expect(await until('a hint comes', () => hints.find(({ doubt }) => doubt))).toMatchObject({
    conversationId: talk.id,
    seq,
    doubt: true,
  });
  expect(hints.every(({ pushed }) => pushed === undefined)).toBe(true);
  expect((await engine.handle(talk).describe()).historyLength).toBe(length);
});

test(
  'the next task of a run is for any worker once its worker is forgotten',
  promise('G235'),
  async () => {
    const engine = await startEngine({
      agents: [shop(script(...TWO_QUESTIONS))],
      services: ledger(),
    });
    const { talk } = await engine.ask();
    const handle = engine.handle(talk);
    /** The kind of queue of each task, once all have been completed: a completion names the worker anew. */
    const tasks = async () => {
      const { events } = await handle.fetchHistory();
      const ofTasks = (events ?? []).flatMap((event) => {
        const scheduled = event.workflowTaskScheduledEventAttributes;
        return scheduled == null ? [] : [scheduled.taskQueue?.kind];
      });
      const done = (events ?? []).filter((event) => event.workflowTaskCompletedEventAttributes);
      return { kinds: ofTasks, areDone: done.length === ofTasks.length };
    };
    const signalled = async () => {
      const { kinds: before } = await tasks();
      await engine.signal(talk, 'noSuchSignal', {});
      const { kinds } = await until('the task of the signal is over', tasks, {
        holds: ({ kinds: found, areDone }) => areDone && found.length > before.length,
      });
      return kinds.at(-1);
    };
    expect(await signalled()).toBe(TaskQueueKind.TASK_QUEUE_KIND_STICKY);
    const { tenant, id: conversationId } = talk;
    const { runId } = await handle.describe();
    const source = createWorkflowSource(engine.temporal);
    await source.forgetWorker?.({ tenant, conversationId }, runId);
    expect(await signalled()).toBe(TaskQueueKind.TASK_QUEUE_KIND_NORMAL);
    const unknown = source.forgetWorker?.({ tenant, conversationId: 'unknown' }, runId);
    await expect(unknown).rejects.toThrow();
  },
);
