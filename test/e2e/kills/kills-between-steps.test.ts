/**
 * Kills between two steps that belong together: a committed task and its projection, a tool's question and its answer,
 * inline reads and the model call that they run in, a claim and the watch over its lease.
 */
import { defineSearchAttributeKey } from '@temporalio/common';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bundleFromSource } from '../../support/engine/workflow-bundle.js';
import { askFromOutside } from '../../support/histories/asked-from-outside.js';
import { promise } from '../../support/promise.js';
import { until } from '../../support/until.js';
import { expectWhole, isAbout, untilHeld, wholeLog, workflowOf } from '../support/killed-talks.js';
import { juggle } from '../support/random/juggler-model.js';
import { startWorld, type World } from '../support/world.js';

const AGENTS = new URL('../fixtures/broken/crashing.ts', import.meta.url).pathname;
const YES = { type: 'answer', value: { answer: 'yes' } } as const;
const PATIENCE_MS = 60_000;
const STATUS = defineSearchAttributeKey('ColloquyStatus', 'KEYWORD');

let world: World;
let code: string;

beforeAll(async () => {
  world = await startWorld({ agents: AGENTS, script: juggle, gated: true });
  code = await bundleFromSource();
});
afterAll(() => world.stop());

async function restartWorker(): Promise<void> {
  await world.stack.worker().kill();
  await world.stack.startWorker();
}

async function runsOf(id: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
  return (await world.lines('runs.jsonl')).filter((run) => run['conversationId'] === id);
}

describe('a worker that is killed after a turn is committed and before it is stored', () => {
  it('leaves a log that another worker completes, with nothing missing and nothing twice', {
    ...promise('G209'),
  }, async () => {
    const talk = world.talk('unprojected');
    askFromOutside({ temporal: world.temporal }, talk.workflowId);
    await talk.begin('crasher', `do ${talk.id}.1: ask`);
    const [open] = await talk.waitingCalls(1);
    const before = (await talk.events()).length;
    // The calls by which the worker learns the state of the workflow before it stores events.
    const looks = [
      'GetWorkflowExecutionHistoryReverse',
      'QueryWorkflow',
      'DescribeWorkflowExecution',
    ];
    const held = world.gate.hold('request', (call) =>
      looks.some((method) => isAbout(talk, method)(call)),
    );
    const handle = world.temporal.workflow.getHandle(talk.workflowId);
    const answer = { toolCallId: open?.toolCallId, resolution: YES, requestId: 'r1' };
    await handle.signal('resolveToolCall', { ...answer, actor: { id: 'ann' } });
    // Describes the run without a query, because a query would make the worker read the history first.
    const work = async (): Promise<unknown> => {
      const { typedSearchAttributes, raw } = await handle.describe();
      const { pendingActivities = [], pendingWorkflowTask: task } = raw;
      return [typedSearchAttributes.get(STATUS), pendingActivities?.length, task != null].join();
    };
    await until('the turn is over for the workflow', work, {
      holds: (seen) => seen === 'active,0,false',
      timeoutMs: PATIENCE_MS,
    });
    await held.met;
    expect(await talk.events()).toHaveLength(before);
    await world.stack.worker().kill();
    held.drop();
    // The new worker has received no hint.
    await world.stack.startWorker();
    const events = await wholeLog(world, talk, 1);
    await expectWhole(world, talk, { events, code, finale: `do ${talk.id}.1: ask` });
    const { seq } = await workflowOf(world, talk);
    expect(seq).toBeGreaterThan(before);
    expect(events).toHaveLength(seq);
    const again = await talk.resolve(open?.toolCallId ?? '', YES, {
      headers: { 'idempotency-key': 'r2' },
    });
    expect(again).toMatchObject({ status: 409, body: { verdict: 'stale', by: 'ann' } });
  });
});

describe('a worker that is killed between the question of a tool and its answer', () => {
  it('leaves a tool that another worker re-enters with the answer, under the same key, once', {
    ...promise('G210'),
  }, async () => {
    const talk = world.talk('asking');
    askFromOutside({ temporal: world.temporal }, talk.workflowId);
    await talk.begin('crasher', `do ${talk.id}.1: place`);
    const [question] = await talk.waitingCalls(1);
    expect(question).toMatchObject({ kind: 'elicitation', name: 'place' });
    const asker = world.stack.worker().pid;
    await world.stack.worker().kill();
    const answered = talk.resolve(question?.toolCallId ?? '', YES, {
      headers: { 'idempotency-key': 'r1' },
    });
    await world.stack.startWorker();
    expect((await answered).body['verdict']).toMatch(/^(accepted|queued)$/);
    const events = await wholeLog(world, talk, 1);
    await expectWhole(world, talk, { events, code, finale: `do ${talk.id}.1: place` });
    const [asks, continued, ...others] = await runsOf(talk.id);
    expect(asks).toMatchObject({ name: 'place asks', pid: asker });
    expect(continued).toMatchObject({ name: 'place goes on', pid: world.stack.worker().pid });
    expect(continued?.['idempotencyKey']).toBe(asks?.['idempotencyKey']);
    expect(others).toEqual([]);
    expect(events.filter(({ type }) => type === 'tool_result')).toMatchObject([
      { result: { envelope: { ok: true, result: { heard: { answer: 'yes' } } } } },
    ]);
  });

  it('loses neither the accepted answer nor the run that it started', {
    ...promise('G210'),
  }, async () => {
    const talk = world.talk('answering');
    askFromOutside({ temporal: world.temporal }, talk.workflowId);
    await talk.begin('crasher', `do ${talk.id}.1: place`);
    const [question] = await talk.waitingCalls(1);
    // Holds the completion: the tool has continued, and its end is not recorded.
    const held = world.gate.hold(
      'request',
      (call) =>
        isAbout(talk, 'RespondActivityTaskCompleted')(call) && call.body.includes('runTool'),
    );
    const { body } = await talk.resolve(question?.toolCallId ?? '', YES);
    expect(body['verdict']).toBe('accepted');
    await held.met;
    await world.stack.worker().kill();
    held.drop();
    await world.stack.startWorker();
    const events = await wholeLog(world, talk, 1);
    await expectWhole(world, talk, { events, code, finale: `do ${talk.id}.1: place` });
    const [, ...entered] = await runsOf(talk.id);
    expect(entered).toMatchObject([
      { name: 'place goes on', attempt: 1 },
      { name: 'place goes on', attempt: 2 },
    ]);
    expect(new Set(entered.map((run) => run['idempotencyKey'])).size).toBe(1);
  });
});

describe('a worker that is killed in the middle of a summary', () => {
  it('delays no turn, and another worker makes the summary, once', promise('G196'), async () => {
    const talk = world.talk('summed');
    askFromOutside({ temporal: world.temporal }, talk.workflowId);
    const held = world.gate.hold(
      'request',
      (call) =>
        isAbout(talk, 'RespondActivityTaskCompleted')(call) && call.body.includes('summarize'),
    );
    const texts = [1, 2, 3, 4, 5, 6].map((turn) => `${talk.id} ${turn} ${'word '.repeat(120)}`);
    for (const [index, text] of texts.entries()) {
      if (index === 0) await talk.begin('talker', text);
      else await talk.call('/messages', { body: { text } });
      await talk.ended(index + 1);
    }
    await held.met;
    await world.stack.worker().kill();
    held.drop();
    expect(await talk.eventsOf('summary')).toEqual([]);
    await world.stack.startWorker();
    const finale = `do ${talk.id}.7: glance`;
    await talk.call('/messages', { body: { text: finale } });
    await talk.ended(7);
    const summaries = async (): Promise<number> => (await talk.eventsOf('summary')).length;
    await until('another worker has made it', summaries, { timeoutMs: PATIENCE_MS });
    const events = await wholeLog(world, talk, 7);
    await expectWhole(world, talk, { events, code, finale });
    // On a busy machine the last turn reads the summary early enough to cause another one.
    const made = events.filter((event) => event.type === 'summary');
    expect(made[0]).toMatchObject({ ordinal: 1, text: 'noted' });
    expect(made.map(({ ordinal }) => ordinal)).toEqual(made.map((_, index) => index + 1));
    expect(events.filter(({ type }) => type === 'turn_ended')).toHaveLength(7);
  });
});

describe('a worker that is killed after inline reads ran, before their model call returned', () => {
  it('leaves no trace: the model is called again, its reads run again under the same keys, and it reads one result of each', {
    ...promise('G211'),
  }, async () => {
    const talk = world.talk('inline');
    askFromOutside({ temporal: world.temporal }, talk.workflowId);
    const held = world.gate.hold(
      'request',
      (call) =>
        isAbout(talk, 'RespondActivityTaskCompleted')(call) && call.body.includes('0.0 seen'),
    );
    await talk.begin('crasher', `do ${talk.id}.glance: gaze glance`);
    await untilHeld(world, talk, held);
    expect(await runsOf(talk.id)).toHaveLength(2);
    expect(await talk.eventsOf('tool_call')).toEqual([]);
    await world.stack.worker().kill();
    held.drop();
    await world.stack.startWorker();
    const events = await wholeLog(world, talk, 1);
    await expectWhole(world, talk, { events, code, finale: `do ${talk.id}.glance: gaze glance` });
    const runs = await runsOf(talk.id);
    expect(runs.length).toBeGreaterThanOrEqual(4);
    expect(new Set(runs.map((run) => run['idempotencyKey'])).size).toBe(2);
    expect(events.filter(({ type }) => type === 'tool_result')).toHaveLength(2);
    // The lost attempt counts with its usage: it sent the same request once more.
    expect(world.model.asked(`do ${talk.id}.glance: gaze glance`)).toBe(3);
    const [first] = await talk.eventsOf('model_call');
    expect(first).toMatchObject({
      attempt: 2,
      failedAttempts: [{ attempt: 1, code: 'no_worker' }],
    });
    expect(first?.earlierUsage?.outputTokens).toBeGreaterThan(0);
  });
});

describe('a process that watches the leases of claims and is killed', () => {
  it('leaves a lease that still ends as lost: the call is offered again and taken', {
    ...promise('G213'),
  }, async () => {
    // The first worker leads while it is alone; the second one follows.
    await restartWorker();
    const talk = world.talk('leased');
    askFromOutside({ temporal: world.temporal }, talk.workflowId);
    await talk.begin('crasher', `do ${talk.id}.1: cart`);
    const [cart] = await talk.waitingCalls(1);
    const path = `/tool-calls/${cart?.toolCallId ?? ''}/claim`;
    const claim = (id: string, lease: number) =>
      talk.call(path, {
        body: { actor: { id }, lease },
        headers: { 'idempotency-key': `claim-${id}` },
      });
    const leader = world.stack.worker();
    await world.stack.startWorker();
    expect(await claim('ann', 2_000)).toMatchObject({ status: 200, body: { verdict: 'accepted' } });
    await leader.kill();
    const lost = async (): Promise<number> => (await talk.eventsOf('lease_lost')).length;
    await until('the lease is lost', lost, { timeoutMs: PATIENCE_MS });
    const taken = await claim('bob', 60_000);
    expect(taken).toMatchObject({ status: 200, body: { verdict: 'accepted' } });
    const late = await talk.resolve(cart?.toolCallId ?? '', {
      type: 'result',
      value: { items: ['old'] },
    });
    expect(late).toMatchObject({ status: 409, body: { verdict: 'stale' } });
    const done = await talk.call(`/tool-calls/${cart?.toolCallId ?? ''}/resolution`, {
      body: {
        resolution: { type: 'result', value: { items: ['tea'] } },
        actor: { id: 'bob' },
        claimId: taken.body['claimId'],
      },
    });
    expect(done).toMatchObject({ status: 200, body: { verdict: 'accepted' } });
    const events = await wholeLog(world, talk, 1);
    await expectWhole(world, talk, { events, code, finale: `do ${talk.id}.1: cart` });
    expect(events.filter(({ type }) => type === 'lease_lost')).toHaveLength(1);
    expect(events.filter(({ type }) => type === 'claimed')).toMatchObject([
      { actor: { id: 'ann' } },
      { actor: { id: 'bob' } },
    ]);
  });
});
