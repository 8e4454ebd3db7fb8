/** A closed conversation that is reopened: the run restores its state by an activity while inputs wait. */
import { Context } from '@temporalio/activity';
import {
  ApplicationFailure,
  defineSearchAttributeKey,
  SearchAttributeType,
} from '@temporalio/common';
import { expect, onTestFinished, test } from 'vitest';
import type { Conversation } from '../../../src/client/index.js';
import { says, script } from '../../../src/model/scripted/scripted.js';
import type { EventsPage } from '../../../src/protocol/workflow/messaging.js';
import { createLocalLiveChannel } from '../../../src/store/live/local.js';
import { ledger, shop } from '../../support/engine/agents.js';
import { type Engine, type EngineOptions, startEngine } from '../../support/engine/engine.js';
import { replays } from '../../support/engine/replays.js';
import { openSqliteEventLog } from '../../support/event-logs.js';
import { type BreakableLog, breakable } from '../../support/fakes/breakable-log.js';
import { type HeldLog, held } from '../../support/fakes/held-log.js';
import { removeRun } from '../../support/histories/remove-run.js';
import { patient } from '../../support/patience.js';
import { promise } from '../../support/promise.js';
import { temporaryFolder } from '../../support/temporary.js';
import { until } from '../../support/until.js';

const STATUS = defineSearchAttributeKey('ColloquyStatus', SearchAttributeType.KEYWORD);

interface Stores {
  readonly engine: Engine;
  /** The worker's store when it is down, and when it is slow. */
  readonly outage: BreakableLog;
  readonly slow: HeldLog;
}

/** An engine whose worker has a store that can be down or slow; clients read it as it is. */
async function engineWith(
  model: Parameters<typeof shop>[0],
  options: Partial<EngineOptions<ReturnType<typeof ledger>>> = {},
): Promise<Stores> {
  const log = await openSqliteEventLog({ file: `${temporaryFolder()}/log.db` });
  onTestFinished(() => log.close());
  const outage = breakable(log);
  const slow = held(outage.log);
  const live = createLocalLiveChannel();
  const engine = await startEngine({
    agents: [shop(model)],
    services: ledger(),
    eventLog: { log, live },
    workerLog: { log: slow.log, live },
    ...options,
  });
  // Before the engine is closed, whose worker may wait for the store.
  onTestFinished(() => {
    slow.release();
  });
  return { engine, outage, slow };
}

async function statusOf(engine: Engine, talk: Pick<Conversation, 'id'>): Promise<string> {
  return (await engine.handle(talk).describe()).status.name;
}

async function hasStatus(engine: Engine, talk: Conversation, wanted: string): Promise<void> {
  await until(`its run is ${wanted}`, () => statusOf(engine, talk), {
    holds: (status) => status === wanted,
  });
}

/** The status that the Temporal UI shows for the newest run. */
async function shownStatus(engine: Engine, talk: Conversation): Promise<unknown> {
  const { typedSearchAttributes } = await engine.handle(talk).describe();
  return typedSearchAttributes.get(STATUS);
}

/** Closes the conversation, and waits for its run and for the log. */
async function closed(engine: Engine, talk: Conversation): Promise<number> {
  const { seq } = await talk.close();
  await hasStatus(engine, talk, 'COMPLETED');
  expect((await engine.log(talk)).at(-1)?.seq).toBe(seq);
  return seq;
}

/** The number of events in the store, without asking the workflow. */
async function stored(engine: Engine, { id }: Conversation): Promise<number | undefined> {
  const head = await engine.opened.log.head({ tenant: 'default', conversationId: id });
  return head?.lastSeq;
}

/** Waits until the run that restores its state has accepted so many updates. */
async function hasWaiting(engine: Engine, talk: Conversation, updates: number): Promise<void> {
  const waiting = async (): Promise<number> => {
    const lines = await engine.history.lines(engine.workflowId(talk));
    if (!lines.includes('ActivityTaskScheduled restoreState')) return 0;
    return lines.filter((line) => line.startsWith('WorkflowExecutionUpdateAccepted')).length;
  };
  await until(`${updates} wait`, waiting, { holds: (count) => count === updates });
}

type ActivityInterceptors = NonNullable<
  NonNullable<NonNullable<EngineOptions<never>['tuning']>['interceptors']>['activity']
>;

/** Called before each attempt to restore a state, and may fail it. */
function beforeRestoring(attempted: (attempt: number) => Promise<void>): ActivityInterceptors {
  return [
    () => ({
      inbound: {
        execute: async (input, next) => {
          const { activityType, attempt } = Context.current().info;
          if (activityType === 'restoreState') await attempted(attempt);
          return await next(input);
        },
      },
    }),
  ];
}

test('inputs that arrive while the state is restored wait, and are judged in their order afterwards', {
  ...promise('G295'),
}, async () => {
  const model = script(says('one'), says('two'), says('three'));
  const { engine, slow } = await engineWith(model);
  const { talk } = await engine.ask('first');
  const seq = await closed(engine, talk);
  slow.hold();
  // Two clients reopen at once: one run, and one message after the other.
  const other = engine.client.conversation(talk.id, { agent: 'shop' });
  const sent = [
    talk.send('second', { reopen: true, requestId: 'm2', onBusy: 'queue' }),
    other.send('third', { reopen: true, requestId: 'm3', onBusy: 'queue' }),
  ];
  await hasWaiting(engine, talk, 2);
  await engine.signal(talk, 'sendMessage', { text: 'second', requestId: 'm2' });
  // A reader that asks the run is given no event of it.
  const page = await engine.query<EventsPage>(talk.id, 'events', { after: 0 });
  expect(page).toMatchObject({ events: [], lastSeq: 0 });
  expect(await stored(engine, talk)).toBe(seq);
  slow.release();
  const [second, third] = await Promise.all(sent);
  expect(second).toMatchObject({ status: 'admitted', duplicate: false });
  expect(third).toMatchObject({ status: 'admitted', duplicate: false });
  await engine.idle(talk);
  const said = (await engine.log(talk)).flatMap((event) =>
    event.type === 'user_message' ? [event.requestId] : [],
  );
  expect(said.slice(1).toSorted()).toEqual(['m2', 'm3']);
  const starts = (await engine.log(talk)).filter(({ type }) => type === 'conversation_started');
  expect(starts.map((event) => [event.seq, 'reopened' in event])).toEqual([
    [1, false],
    [seq + 1, true],
  ]);
  expect(new Set(starts.map((event) => 'chain' in event && event.chain)).size).toBe(2);
  expect((await talk.snapshot()).generation).toBe(1);
  await replays(engine, talk);
});

test('while the store is down a reopening fails with a retryable error, and the conversation stays closed', {
  ...promise('G296'),
}, async () => {
  const model = script(says('one'), says('two'));
  const { engine, outage } = await engineWith(model);
  const { talk } = await engine.ask('first');
  const seq = await closed(engine, talk);
  outage.isDown = true;
  await expect(talk.send('second', { reopen: true })).rejects.toMatchObject({
    code: 'store_unavailable',
    httpStatus: 503,
    retryable: true,
  });
  await hasStatus(engine, talk, 'FAILED');
  await replays(engine, talk);
  expect(await shownStatus(engine, talk)).toBe('closed');
  outage.isDown = false;
  await expect(talk.send('second')).rejects.toMatchObject({ code: 'conversation_closed' });
  expect(await stored(engine, talk)).toBe(seq);
  expect((await talk.snapshot()).status).toBe('closed');
  expect(await engine.say(talk, 'second', { reopen: true })).toMatchObject({ text: 'two' });
  expect((await engine.log(talk))[seq]).toMatchObject({
    type: 'conversation_started',
    reopened: true,
  });
});

test('a message that is left for a worker reopens the conversation, however long the store is down', {
  ...promise('G296'),
  timeout: patient(60_000),
}, async () => {
  const model = script(says('one'), says('two'));
  const { engine } = await engineWith(model);
  const { talk } = await engine.ask('first');
  await closed(engine, talk);
  await engine.stopWorker();
  const left = await talk.send('second', { reopen: true });
  if (left.status !== 'queued') throw new Error('a worker took it');
  let isDown = true;
  const activity = beforeRestoring(() =>
    isDown
      ? Promise.reject(ApplicationFailure.retryable('the disk is gone', 'store_unavailable'))
      : Promise.resolve(),
  );
  await engine.startWorker({ interceptors: { activity } });
  const failed = async (): Promise<boolean> => {
    const lines = await engine.history.lines(engine.workflowId(talk));
    return lines.includes('ActivityTaskFailed');
  };
  await until('the state could not be restored', failed);
  expect(await statusOf(engine, talk)).toBe('RUNNING');
  isDown = false;
  const turn = await left.final({ timeout: '30s' });
  expect(await turn?.result({ timeout: '10s' })).toMatchObject({ text: 'two' });
  await replays(engine, talk);
});

test('a worker that is lost while it restores the state delays the message, and no more', {
  ...promise('G297'),
  timeout: patient(60_000),
}, async () => {
  const model = script(says('one'), says('two'));
  let attempts = 0;
  const { engine } = await engineWith(model, {
    tuning: {
      interceptors: {
        activity: beforeRestoring(async (attempt) => {
          attempts = attempt;
          // Sends no heartbeat any more, like a process that was killed.
          if (attempt === 1) await Context.current().cancelled;
        }),
      },
    },
  });
  const { talk } = await engine.ask('first');
  const seq = await closed(engine, talk);
  const sent = await talk.send('second', { reopen: true, requestId: 'm2' });
  const turn = sent.status === 'queued' ? await sent.final({ timeout: '30s' }) : sent;
  expect(await turn?.result({ timeout: '10s' })).toMatchObject({ text: 'two' });
  expect(attempts).toBe(2);
  const types = (await engine.logTypes(talk)).slice(seq, seq + 3);
  expect(types).toEqual(['conversation_started', 'user_message', 'turn_started']);
  await replays(engine, talk);
});

test('a message that was admitted before the close is a duplicate, and leaves nothing behind', {
  ...promise('G299'),
}, async () => {
  const model = script(says('one'), says('two'));
  const { engine } = await engineWith(model);
  const talk = engine.begin();
  const first = await engine.send(talk, 'first', { requestId: 'm1' });
  await first.result();
  const seq = await closed(engine, talk);
  expect(await talk.send('first', { reopen: true, requestId: 'm1' })).toMatchObject({
    status: 'admitted',
    duplicate: true,
    turnId: first.turnId,
    seq: first.seq,
  });
  await hasStatus(engine, talk, 'COMPLETED');
  expect(await shownStatus(engine, talk)).toBe('closed');
  expect(await stored(engine, talk)).toBe(seq);
  await replays(engine, talk);
  // A client that knows only of this run continues the conversation, too.
  const bare = engine.bareClient.conversation(talk.id, { agent: 'shop' });
  await expect(bare.send('second')).rejects.toMatchObject({ code: 'conversation_closed' });
  await bare.send('second', { reopen: true });
  await engine.idle(talk);
  expect(model.requests.at(-1)?.messages).toHaveLength(3);
  expect((await engine.log(talk))[seq]).toMatchObject({ reopened: true, seq: seq + 1 });
});

test('a conversation whose runs Temporal has removed is reopened from its log', {
  ...promise('G298'),
  timeout: patient(300_000),
}, async () => {
  const model = script(says('one'), says('two'));
  const { engine } = await engineWith(model);
  const { talk } = await engine.ask('first');
  const seq = await closed(engine, talk);
  const { runId } = await engine.handle(talk).describe();
  await removeRun(engine.temporal, { workflowId: engine.workflowId(talk), runId });
  await expect(talk.send('second')).rejects.toMatchObject({ code: 'conversation_closed' });
  expect(await engine.say(talk, 'second', { reopen: true })).toMatchObject({ text: 'two' });
  const log = await engine.log(talk);
  expect(log[seq]).toMatchObject({ type: 'conversation_started', seq: seq + 1, reopened: true });
  expect(model.requests.at(-1)?.messages).toHaveLength(3);
});

test('a client without the event log reopens a conversation, too', promise('G298'), async () => {
  const model = script(says('one'), says('two'));
  const { engine } = await engineWith(model);
  const { talk } = await engine.ask('first');
  await closed(engine, talk);
  const bare = engine.bareClient.conversation(talk.id, { agent: 'shop' });
  expect(await bare.send('second', { reopen: true })).toMatchObject({ status: 'admitted' });
  await engine.idle(talk);
  expect(model.requests.at(-1)?.messages).toHaveLength(3);
});

test('a run that is cancelled before its state is restored leaves the conversation closed', {
  ...promise('G297'),
}, async () => {
  const model = script(says('one'), says('two'));
  const { engine, slow } = await engineWith(model);
  const { talk } = await engine.ask('first');
  const seq = await closed(engine, talk);
  slow.hold();
  const reopening = talk.send('second', { reopen: true, requestId: 'm2' });
  await hasWaiting(engine, talk, 1);
  const cancelled = await engine.handle(talk).describe();
  await engine.handle(talk).cancel();
  const { temporal } = engine;
  const first = temporal.workflow.getHandle(engine.workflowId(talk), cancelled.runId);
  const status = async (): Promise<string> => (await first.describe()).status.name;
  await until('it is cancelled', status, { holds: (name) => name === 'CANCELLED' });
  slow.release();
  // The client sends it again, and that run restores the state.
  expect(await reopening).toMatchObject({ status: 'admitted' });
  await engine.idle(talk);
  expect((await engine.logTypes(talk)).slice(seq, seq + 2)).toEqual([
    'conversation_started',
    'user_message',
  ]);
});
