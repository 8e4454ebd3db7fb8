import { WorkflowNotFoundError } from '@temporalio/client';
import { describe, expect, it } from 'vitest';
import { ConversationClient } from '../../../../src/client/conversation-client.js';
import type { ConversationReader } from '../../../../src/client/ports/reader.js';
import type {
  Resolution,
  ResolveToolCallInput,
  Verdict,
} from '../../../../src/protocol/calls/resolutions.js';
import type { CanonicalEvent } from '../../../../src/protocol/log/events.js';
import type { EventsQuery } from '../../../../src/protocol/workflow/messaging.js';
import { FakeReader } from '../../../support/fakes/fake-reader.js';
import {
  fakeTemporal,
  noAnswer,
  refusal,
  type Script,
} from '../../../support/fakes/fake-temporal.js';
import { CALL, SUPPORT, sampleLog, TURN } from '../../../support/samples/sample-log.js';

const REF = `default~c-1~${CALL}`;
const ANSWER: Resolution = { type: 'answer', value: 'the first' };

function setUp(script: Script, reader?: ConversationReader) {
  const temporal = fakeTemporal(script);
  const client = new ConversationClient({ temporal: temporal.client, agents: [SUPPORT], reader });
  return { client, calls: temporal.calls };
}

const EMPTY_PAGE = { events: [], lastSeq: 0, firstSeq: 1, more: false };

/** `answer-1` was accepted at seq 6 and reverted at seq 7. */
const REVERTED: readonly CanonicalEvent[] = [
  ...sampleLog('c-1').slice(0, 6),
  {
    type: 'resolution_reverted',
    seq: 7,
    at: '2026-01-01T00:00:03.500Z',
    turnId: TURN,
    toolCallId: CALL,
    requestId: 'answer-1',
    problems: [{ path: '/resolution/value', message: 'must be a colour' }],
  },
];

const notFound = (): never => {
  throw new WorkflowNotFoundError('not found', 'conversation:default:c-1', undefined);
};

describe('resolving a call', () => {
  it('returns the verdict, its HTTP status and the request id, and starts nothing', async () => {
    const { client, calls } = setUp({
      update: () => ({ verdict: 'accepted', toolCallId: CALL, seq: 6 }),
    });
    const outcome = await client.resolve(REF, ANSWER, { actor: { id: 'ann' }, requestId: 'r-1' });
    expect(outcome).toMatchObject({
      verdict: 'accepted',
      seq: 6,
      httpStatus: 200,
      requestId: 'r-1',
    });
    expect(await outcome.final()).toEqual({ verdict: 'accepted', toolCallId: CALL, seq: 6 });
    expect(calls.map((call) => call.kind)).toEqual(['update']);
    const input = calls[0]?.input as ResolveToolCallInput;
    expect(input).toMatchObject({ toolCallId: CALL, resolution: ANSWER, requestId: 'r-1' });
    expect(Math.abs(Date.parse(input.receivedAt ?? '') - Date.now())).toBeLessThan(5_000);
  });

  it.each<[Verdict, number]>([
    [{ verdict: 'forbidden', reason: 'not in the audience' }, 403],
    [{ verdict: 'stale', why: 'already_resolved', status: 'resolved', by: 'bob' }, 409],
    [{ verdict: 'expired', deadline: '2026-01-01T00:00:00.000Z' }, 410],
    [{ verdict: 'invalid', problems: [{ path: '/resolution/value', message: 'no' }] }, 422],
    [{ verdict: 'unknown', what: 'tool_call' }, 404],
    [{ verdict: 'duplicate', first: { verdict: 'accepted', toolCallId: CALL, seq: 6 } }, 200],
  ])('returns the refusal %j as a value', async (verdict, httpStatus) => {
    const { client } = setUp({
      update: () => {
        throw refusal('verdict', verdict);
      },
    });
    const outcome = await client.resolve(REF, ANSWER, { requestId: 'r-1' });
    expect(outcome).toMatchObject({ ...verdict, httpStatus });
  });

  it('stays one answer while no worker runs: the signal carries the ids and the time of the first attempt', async () => {
    let alive = false;
    const { client, calls } = setUp({
      update: () => {
        if (!alive) throw noAnswer();
        throw refusal('verdict', {
          verdict: 'duplicate',
          first: { verdict: 'accepted', toolCallId: CALL, seq: 6 },
        });
      },
      signal: () => undefined,
      query: () => {
        if (!alive) throw noAnswer();
        return EMPTY_PAGE;
      },
      describe: () => ({ status: { name: 'RUNNING' } }),
    });
    const outcome = await client.resolve(REF, ANSWER);
    expect(outcome).toMatchObject({ verdict: 'queued', httpStatus: 202 });
    expect(outcome.warning).toContain('npx colloquy worker');
    expect(calls.map((call) => call.kind)).toEqual(['update', 'signal', 'describe']);
    expect(calls[1]?.input).toEqual(calls[0]?.input);
    expect(await outcome.final({ timeout: 1 })).toMatchObject({ verdict: 'queued' });
    alive = true;
    expect(await outcome.final({ timeout: '5s' })).toEqual({
      verdict: 'accepted',
      toolCallId: CALL,
      seq: 6,
    });
    expect(calls.at(-1)?.input).toEqual(calls[0]?.input);
  });

  it.each([
    ['the log', REVERTED.length],
    ['the workflow, before the log', 5],
  ])('that was reverted after a signal returns invalid by %s', async (_where, stored) => {
    const reader = new FakeReader();
    reader.add('c-1', REVERTED.slice(0, 5));
    const { client, calls } = setUp(
      {
        update: () => {
          throw noAnswer();
        },
        signal: () => undefined,
        query: ({ input }) => {
          const { after } = input as EventsQuery;
          return { ...EMPTY_PAGE, events: REVERTED.filter((event) => event.seq > after) };
        },
      },
      reader,
    );
    const outcome = await client.resolve(REF, ANSWER, { requestId: 'answer-1' });
    reader.add('c-1', REVERTED.slice(5, stored));
    expect(await outcome.final({ timeout: '5s' })).toEqual({
      verdict: 'invalid',
      problems: [{ path: '/resolution/value', message: 'must be a colour' }],
    });
    expect(calls.filter((call) => call.kind === 'update')).toHaveLength(1);
  });

  it('that was accepted again after it was taken back is not reported by the earlier end', async () => {
    const reader = new FakeReader();
    reader.add('c-1', REVERTED);
    const accepted = { verdict: 'accepted', toolCallId: CALL, seq: 8, checked: false };
    const { client } = setUp(
      {
        update: () => accepted,
        // The worker is lost before the log has the answer.
        query: () => {
          throw noAnswer();
        },
        describe: () => ({ status: { name: 'RUNNING' } }),
      },
      reader,
    );
    const outcome = await client.resolve(REF, ANSWER, { requestId: 'answer-1' });
    expect(await outcome.final({ timeout: 50 })).toEqual(accepted);
  });

  it('that was left as a signal gets its verdict from the log when the conversation ended without a worker', async () => {
    const reader = new FakeReader();
    reader.add('c-1', sampleLog('c-1', { closed: true }));
    let closed = false;
    const { client } = setUp(
      {
        update: () => (closed ? notFound() : Promise.reject(noAnswer())),
        signal: () => undefined,
        query: () => Promise.reject(noAnswer()),
        describe: () => ({ status: { name: 'TERMINATED' } }),
      },
      reader,
    );
    const outcome = await client.resolve(REF, ANSWER);
    closed = true;
    expect(await outcome.final({ timeout: '5s' })).toMatchObject({ verdict: 'stale', by: 'ann' });
  });

  it.each<[string, unknown]>([
    ['a value that is no JSON', { type: 'answer', value: () => 1 }],
    ['a number that JSON cannot hold', { type: 'answer', value: Number.NaN }],
    ['an answer over 200 KiB', { type: 'answer', value: 'x'.repeat(210_000) }],
  ])('refuses %s as invalid before anything reaches Temporal', async (_what, resolution) => {
    const { client, calls } = setUp({});
    const outcome = await client.resolve(REF, resolution as Resolution);
    expect(outcome).toMatchObject({ verdict: 'invalid', httpStatus: 422 });
    expect(calls).toEqual([]);
  });

  it.each<[string, unknown, string]>([
    ...['', 'nonsense', 'a~b', 'a b~c~d', 'default~c-1~%E0%A4', '~c-1~call_1'].map(
      (ref): [string, unknown, string] => [`the text "${ref}"`, ref, '/ref'],
    ),
    ['no target', undefined, '/ref'],
    ['null', null, '/ref'],
    ['a number', 7, '/ref'],
    ['a pending call without its ref', { ref: undefined }, '/ref'],
    ['a call without its id', { conversationId: 'c-1' }, '/toolCallId'],
    [
      'an id that no conversation has',
      { conversationId: 'c 1', toolCallId: 'x' },
      '/conversationId',
    ],
    ['an id that no tenant has', { tenant: '', conversationId: 'c-1', toolCallId: 'x' }, '/tenant'],
  ])('refuses %s, which is no call, as invalid by its field', async (_what, target, path) => {
    const { client, calls } = setUp({});
    const call = target as string;
    for (const outcome of [
      await client.resolve(call, ANSWER),
      await client.extend(call, { by: '1 minute' }),
      await client.claim(call),
      await client.progress(call, 1, { claimId: 'k' }),
    ])
      expect(outcome).toMatchObject({ verdict: 'invalid', httpStatus: 422, problems: [{ path }] });
    expect(calls).toEqual([]);
  });

  it('refuses a missing resolution by its name, with the forms that it may have', async () => {
    const { client, calls } = setUp({});
    expect(await client.resolve(REF, undefined as never)).toMatchObject({
      verdict: 'invalid',
      problems: [
        {
          path: '/resolution',
          message:
            'is required: an object such as {type: "approve"} or {type: "answer", value: ...}, by the kind of the call',
        },
      ],
    });
    expect(calls).toEqual([]);
  });
});

describe('resolving a call of a conversation that no longer runs', () => {
  it('is unknown when neither Temporal nor the log has the conversation', async () => {
    const { client } = setUp({ update: notFound }, new FakeReader());
    expect(await client.resolve(REF, ANSWER)).toMatchObject({
      verdict: 'unknown',
      what: 'conversation',
    });
  });

  it('is stale by the log, with the actor and the time', async () => {
    const reader = new FakeReader();
    reader.add('c-1', sampleLog('c-1', { closed: true }));
    const { client } = setUp({ update: notFound }, reader);
    expect(await client.resolve(REF, ANSWER)).toMatchObject({
      verdict: 'stale',
      why: 'already_resolved',
      status: 'resolved',
      by: 'ann',
      at: '2026-01-01T00:00:03.000Z',
    });
    expect(
      await client.resolve({ conversationId: 'c-1', toolCallId: 'other' }, ANSWER),
    ).toMatchObject({
      verdict: 'unknown',
      what: 'tool_call',
    });
  });

  it('is a duplicate by the log when the request was the one that was accepted', async () => {
    const reader = new FakeReader();
    reader.add('c-1', sampleLog('c-1', { closed: true }));
    const { client } = setUp({ update: notFound }, reader);
    expect(await client.resolve(REF, ANSWER, { requestId: 'answer-1' })).toMatchObject({
      verdict: 'duplicate',
      first: { verdict: 'accepted', seq: 6 },
    });
  });

  it('is neither a duplicate nor resolved by the log when the answer was reverted', async () => {
    const reader = new FakeReader();
    reader.add('c-1', [
      ...REVERTED,
      {
        type: 'conversation_closed',
        seq: 8,
        at: '2026-01-01T00:00:05.000Z',
        reason: 'requested',
        actor: { id: 'ann', verified: true, channel: 'client' },
      },
    ]);
    const { client } = setUp({ update: notFound }, reader);
    const outcome = await client.resolve(REF, ANSWER, { requestId: 'answer-1' });
    expect(outcome).toMatchObject({ verdict: 'stale', status: 'cancelled' });
    expect(outcome).not.toHaveProperty('by');
  });

  it('is expired by the log when there was no answer', async () => {
    const reader = new FakeReader();
    const deadline = '2026-01-01T00:01:02.000Z';
    const before = sampleLog('c-1').slice(0, 5);
    reader.add('c-1', [
      ...before,
      {
        type: 'expired',
        seq: 6,
        at: deadline,
        turnId: 'turn_abc_1',
        toolCallId: CALL,
        kind: 'elicitation',
        deadline,
      },
    ]);
    const { client } = setUp({ update: notFound }, reader);
    expect(await client.resolve(REF, ANSWER)).toMatchObject({
      verdict: 'expired',
      deadline,
      httpStatus: 410,
    });
  });
});

describe('stopping and closing', () => {
  it('answers that nothing was cancelled when the conversation is closed', async () => {
    const { client } = setUp({
      update: notFound,
      describe: () => ({ status: { name: 'COMPLETED' } }),
    });
    expect(await client.cancel('c-1')).toEqual({ status: 'done', cancelled: false });
  });

  it('leaves a stop as a signal when no worker answers', async () => {
    const { client, calls } = setUp({
      update: () => {
        throw noAnswer();
      },
      signal: () => undefined,
    });
    expect(await client.cancel('c-1', { turnId: 't' })).toMatchObject({ status: 'queued' });
    expect(calls[1]?.input).toEqual(calls[0]?.input);
  });

  it('does not know a conversation that neither Temporal nor the log has', async () => {
    const { client } = setUp({ update: notFound, describe: notFound }, new FakeReader());
    await expect(client.cancel('c-1')).rejects.toMatchObject({ code: 'unknown_conversation' });
    await expect(client.conversation('c-1').close()).rejects.toMatchObject({
      code: 'unknown_conversation',
    });
  });
});
