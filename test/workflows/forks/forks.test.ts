/** Forks of conversations on a real server: what they share with their origin, and what they do not. */
import { randomUUID } from 'node:crypto';
import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { expect, test } from 'vitest';
import type { Conversation, Forked } from '../../../src/client/index.js';
import { calls, callsAll, says, script } from '../../../src/model/scripted/scripted.js';
import type { ScriptedAnswer } from '../../../src/model/scripted/types.js';
import { testFileOf } from '../../../src/projection/exports/test-file.js';
import type { CanonicalEvent } from '../../../src/protocol/log/events.js';
import { ledger, shop } from '../../support/engine/agents.js';
import { type Engine, startEngine } from '../../support/engine/engine.js';
import { replays } from '../../support/engine/replays.js';
import { runTestFile } from '../../support/forks/test-files.js';
import { patient } from '../../support/patience.js';
import { promise } from '../../support/promise.js';
import { until } from '../../support/until.js';

/** A step with a gated call, which may be repeated, and one that runs; the gated call waits. */
async function parked(...further: readonly ScriptedAnswer[]) {
  const services = ledger();
  const first = callsAll([
    { name: 'clock.gated', input: {} },
    { name: 'stock', input: { item: 'tea' } },
  ]);
  const engine = await startEngine({ agents: [shop(script(first, ...further))], services });
  const { talk, result } = await engine.ask();
  expect(result.status).toBe('waiting');
  const log = await engine.log(talk);
  const [call] = await talk.pending();
  return { engine, talk, services, atSeq: log.at(-1)?.seq ?? 0, callId: call?.toolCallId ?? '' };
}

const begun = (engine: Engine, { conversationId }: Forked): Conversation =>
  engine.client.conversation(conversationId);

/** The log without what a copy changes: the id of the conversation. */
const copies = (events: readonly CanonicalEvent[]): readonly unknown[] =>
  events.map((event) => ({ ...event, conversationId: '' }));

test('a fork begins with the log of its origin, and answers of one are none of the other', {
  ...promise('G381'),
}, async () => {
  const { engine, talk, services, atSeq, callId } = await parked(says('done'), says('again'));
  const origin = await engine.log(talk);
  const forked = await talk.fork({ generation: 1, atSeq });
  expect(forked).toMatchObject({ status: 'forked', notCarried: [callId], duplicate: false });
  const fork = begun(engine, forked);
  const log = await engine.log(fork);
  expect(copies(log.slice(0, atSeq))).toEqual(copies(origin));
  expect(log.slice(atSeq)).toMatchObject([
    {
      type: 'tool_result',
      toolCallId: callId,
      result: { envelope: { error: { code: 'not_carried' } } },
    },
    { type: 'turn_ended', status: 'cancelled', reason: 'forked' },
    {
      type: 'conversation_started',
      conversationId: fork.id,
      origin: { conversationId: talk.id, seq: atSeq },
    },
  ]);
  expect(await fork.snapshot()).toMatchObject({
    ...{ status: 'idle', pending: [], seq: atSeq + 3 },
    origin: { conversationId: talk.id, generation: 1, seq: atSeq },
  });
  expect(await fork.resolve(callId, { type: 'approve' })).toMatchObject({ verdict: 'stale' });
  expect(await talk.pending()).toMatchObject([{ toolCallId: callId }]);
  expect(await engine.say(fork, 'and?')).toMatchObject({ status: 'completed', text: 'done' });
  expect(await engine.log(talk)).toEqual(origin);
  expect(await talk.resolve(callId, { type: 'approve' })).toMatchObject({ verdict: 'accepted' });
  await engine.idle(talk);
  expect(services.runs.filter(({ name }) => name === 'clock.gated')).toHaveLength(1);
  await replays(engine, fork);
  await replays(engine, talk);
});

test('a call that waits anew runs in the fork under a key of its own, whichever is answered first', {
  ...promise('G381'),
}, async () => {
  const { engine, talk, services, atSeq, callId } = await parked(says('done'), says('done'));
  const forked = await talk.fork({ generation: 1, atSeq, reopen: [callId] });
  expect(forked).toMatchObject({ status: 'forked', notCarried: [] });
  const fork = begun(engine, forked);
  const [waits] = await fork.pending();
  expect(waits).toMatchObject({ toolCallId: callId, kind: 'approval' });
  // A worker that takes the conversations over has only their histories.
  await engine.stopWorker();
  await engine.startWorker();
  for (const one of [fork, talk]) {
    expect(await one.resolve(callId, { type: 'approve' })).toMatchObject({ verdict: 'accepted' });
    await engine.idle(one);
  }
  const ran = services.runs.filter(({ name }) => name === 'clock.gated');
  expect(new Set(ran.map(({ ctx }) => ctx.idempotencyKey)).size).toBe(2);
  expect(ran.map(({ ctx }) => ctx.conversationId)).toEqual([fork.id, talk.id]);
  const ends = (await engine.log(fork)).filter(({ type }) => type === 'turn_ended');
  expect(ends).toMatchObject([{ status: 'completed', text: 'done' }]);
  await replays(engine, fork);
});

test('answers that reach a fork before its state is there count, however long the store is down', {
  ...promise('G382'),
  timeout: patient(60_000),
}, async () => {
  const { engine, talk, services, atSeq, callId } = await parked(says('done'));
  await engine.stopWorker();
  const forked = await talk.fork({ generation: 1, atSeq, reopen: [callId] });
  const fork = begun(engine, forked);
  const left = await fork.resolve(callId, { type: 'approve' }, { requestId: 'first' });
  if (left.verdict !== 'queued') throw new Error('a worker took it');
  let isDown = true;
  await engine.startWorker({
    interceptors: {
      activity: [
        () => ({
          inbound: {
            execute: async (input, next) => {
              if (isDown && Context.current().info.activityType === 'restoreState')
                throw ApplicationFailure.retryable('the disk is gone', 'store_unavailable');
              return await next(input);
            },
          },
        }),
      ],
    },
  });
  const failed = async (): Promise<boolean> =>
    (await engine.history.lines(engine.workflowId(fork))).includes('ActivityTaskFailed');
  await until('the state could not be restored', failed);
  const rejected = fork.resolve(callId, { type: 'deny' }, { requestId: 'second' });
  expect(await rejected).toMatchObject({ verdict: 'queued' });
  isDown = false;
  expect(await left.final({ timeout: '30s' })).toMatchObject({ verdict: 'accepted' });
  await engine.idle(fork);
  expect(services.runs.filter(({ name }) => name === 'clock.gated')).toHaveLength(1);
  await replays(engine, fork);
});

test('a conversation of a worker, exported as a test, passes against the agent', {
  ...promise('G384'),
}, async () => {
  const { engine, talk, callId } = await parked(says('done'));
  await talk.resolve(callId, { type: 'approve' }, { actor: { id: 'lena' } });
  await engine.idle(talk);
  const text = testFileOf(await engine.log(talk));
  await runTestFile(text, { shop: shop(script()) });
  await expect(
    runTestFile(text.replace('"text":"done"}', '"text":"gone"}'), { shop: shop(script()) }),
  ).rejects.toThrow();
});

test('a fork is whole once its origin is deleted, with the values that its log names', {
  ...promise('G382'),
}, async () => {
  const big = 'x'.repeat(400_000);
  const engine = await startEngine({
    agents: [shop(script(calls('stock', { item: 'tea' }), says('much'), says('still much')))],
    services: ledger({ stock: () => big }),
  });
  const { talk } = await engine.ask();
  const origin = await engine.log(talk);
  const fork = begun(engine, await talk.fork({ generation: 1, atSeq: origin.length }));
  await engine.client.deleteConversation(talk.id);
  await until('the origin is gone', () => talk.exists(), { holds: (exists) => !exists });
  const result = origin.flatMap((event) => (event.type === 'tool_result' ? [event.result] : []))[0];
  const blob = result?.envelope.ok === true ? result.envelope.blob : undefined;
  expect((await fork.blob(blob?.id ?? '')).content.byteLength).toBe(blob?.bytes);
  expect(await engine.say(fork, 'how much?')).toMatchObject({ text: 'still much' });
  expect(copies((await engine.log(fork)).slice(0, origin.length))).toEqual(copies(origin));
});

test('a fork that is asked for without a worker begins once there is one, and a repeat finds it', {
  ...promise('G382'),
}, async () => {
  const { engine, talk, atSeq } = await parked(says('done'));
  await engine.stopWorker();
  const request = { generation: 1, atSeq, requestId: randomUUID() };
  const queued = await talk.fork(request);
  expect(queued).toMatchObject({ status: 'queued', reason: 'no_worker', duplicate: false });
  await engine.startWorker();
  const again = await until('it has begun', () => talk.fork(request), {
    holds: ({ status }) => status === 'forked',
  });
  expect(again).toMatchObject({ conversationId: queued.conversationId, duplicate: true });
  await expect(talk.fork({ ...request, reopen: ['x'] })).rejects.toMatchObject({
    code: 'invalid_request',
    problems: [{ path: '/reopen/0' }],
  });
  await expect(talk.fork({ ...request, atSeq: atSeq - 1 })).rejects.toMatchObject({
    problems: [{ path: '/requestId' }],
  });
  await expect(talk.fork({ generation: 1, atSeq, id: talk.id })).rejects.toMatchObject({
    problems: [{ path: '/id' }],
  });
  expect(await engine.say(begun(engine, again), 'go')).toMatchObject({ text: 'done' });
});

test('a fork of a fork goes back behind the first cut, and each can be closed and opened again', {
  ...promise('G382'),
}, async () => {
  const model = script(says('one'), says('two'), says('three'), says('four'));
  const engine = await startEngine({ agents: [shop(model)], services: ledger() });
  const { talk } = await engine.ask('first');
  await engine.say(talk, 'second');
  const end = (await engine.log(talk)).length;
  const fork = begun(engine, await talk.fork({ generation: 1, atSeq: end }));
  const ends = (await engine.log(fork)).flatMap(({ type, seq }) =>
    type === 'turn_ended' ? [seq] : [],
  );
  const forked = await fork.fork({ generation: 1, atSeq: ends[0] ?? 0 });
  const second = begun(engine, forked);
  expect(await engine.say(second, 'third')).toMatchObject({ text: 'three' });
  await second.close();
  expect(await engine.say(second, 'fourth', { reopen: true })).toMatchObject({ text: 'four' });
  expect(await second.snapshot()).toMatchObject({
    origin: { conversationId: fork.id, seq: ends[0] },
  });
  await replays(engine, second);
});
