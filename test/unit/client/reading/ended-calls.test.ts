/** Unconfirmed answers to calls whose end the log has: the client refuses them without a signal. */
import { WorkflowNotFoundError } from '@temporalio/client';
import { describe, expect, it } from 'vitest';
import { ConversationClient } from '../../../../src/client/conversation-client.js';
import type { Resolution } from '../../../../src/protocol/calls/resolutions.js';
import type { ToolErrorCode } from '../../../../src/protocol/calls/results.js';
import type { CanonicalEvent } from '../../../../src/protocol/log/events.js';
import { FakeReader } from '../../../support/fakes/fake-reader.js';
import { fakeTemporal, noAnswer } from '../../../support/fakes/fake-temporal.js';
import { promise } from '../../../support/promise.js';
import { CALL, SUPPORT, sampleLog } from '../../../support/samples/sample-log.js';

const REF = `default~c-1~${CALL}`;
const ANSWER: Resolution = { type: 'answer', value: 'the first' };
const OTHER: Resolution = { type: 'answer', value: 'another' };

const notFound = (): Error =>
  new WorkflowNotFoundError('not found', 'conversation:default:c-1', undefined);

/** A worker that is too busy to answer in time, or a conversation that has ended (`notFound`). */
function setUp(events: readonly CanonicalEvent[], failure: () => Error = noAnswer) {
  const { client: temporal, calls } = fakeTemporal({
    update: () => {
      throw failure();
    },
    signal: () => undefined,
    query: () => {
      throw noAnswer();
    },
    describe: () => ({ status: { name: 'RUNNING' }, runId: 'r' }),
  });
  const reader = new FakeReader();
  reader.add('c-1', events);
  const client = new ConversationClient({ temporal, agents: [SUPPORT], reader });
  const kinds = () => calls.map(({ kind }) => kind).filter((kind) => kind !== 'describe');
  return { client, kinds, reader };
}

/** The call has expired, and its tool accepts late results or not. */
function expiredLog(lateResult: 'inbox' | 'reject'): readonly CanonicalEvent[] {
  const [expiry, result] = sampleLog('c-1').slice(5, 7);
  if (expiry === undefined || result?.type !== 'tool_result') throw new Error('another sample');
  const { turnId } = result;
  return [
    ...sampleLog('c-1')
      .slice(0, 5)
      .map((event) =>
        event.type === 'tool_call' ? { ...event, call: { ...event.call, lateResult } } : event,
      ),
    {
      ...{ type: 'expired', seq: 6, at: expiry.at, turnId, toolCallId: CALL },
      ...{ kind: 'elicitation', deadline: '2026-01-01T00:01:02.000Z' },
    },
    { ...result, result: { ...result.result, status: 'expired' } },
  ];
}

/** A worker ended the call after its answer. */
function failedLog(code: ToolErrorCode): readonly CanonicalEvent[] {
  const envelope = { ok: false, error: { code, message: 'not run' } } as const;
  return sampleLog('c-1', { closed: true }).map((event) =>
    event.type === 'tool_result'
      ? { ...event, result: { ...event.result, status: 'errored', envelope } }
      : event,
  );
}

describe('an answer to a call that has ended by the log', () => {
  it.each([
    ['definition_changed', 'is not confirmed in time', noAnswer],
    ['not_available', 'is not confirmed in time', noAnswer],
    ['definition_changed', 'comes after the end of the conversation', notFound],
    ['not_available', 'comes after the end of the conversation', notFound],
  ] as const)('gets the code %s of its end where the answer %s', async (code, _when, failure) => {
    const { client, kinds } = setUp(failedLog(code), failure);
    expect(await client.resolve(REF, OTHER)).toMatchObject({
      ...{ verdict: 'stale', status: 'errored', code, by: 'ann' },
      httpStatus: 409,
    });
    expect(kinds()).toEqual(['update']);
  });

  it('gets no code where the call failed by itself, as by the workflow', async () => {
    const { client } = setUp(failedLog('tool_error'));
    const outcome = await client.resolve(REF, OTHER);
    expect(outcome).toMatchObject({ verdict: 'stale', status: 'errored' });
    expect(outcome).not.toHaveProperty('code');
  });
});

describe('an answer that is not confirmed in time', () => {
  it.each([
    ['before it was answered', 5, undefined],
    ['while it ran after its answer', 6, 'ann'],
  ] as const)(
    'names who has cancelled the call %s, as the workflow does',
    async (_when, kept, answeredBy) => {
      const result = sampleLog('c-1').find((event) => event.type === 'tool_result');
      const before = sampleLog('c-1').slice(0, kept);
      const answer = before.find((event) => event.type === 'resolution');
      if (result === undefined) throw new Error('another sample');
      expect(answer?.actor.id).toBe(answeredBy);
      const actor = { id: 'cleo', verified: true, channel: 'api' } as const;
      const envelope = { ok: false, error: { code: 'cancelled', message: 'stopped' } } as const;
      const cancelled: CanonicalEvent = {
        ...{ ...result, seq: kept + 1, at: '2026-01-01T00:00:09.000Z' },
        result: { ...result.result, status: 'cancelled', envelope, actor },
      };
      const { client } = setUp([...before, cancelled]);
      expect(await client.resolve(REF, OTHER)).toMatchObject({
        ...{ verdict: 'stale', why: 'already_resolved', status: 'cancelled' },
        ...{ by: 'cleo', at: '2026-01-01T00:00:09.000Z' },
      });
    },
  );

  it('is stale without a signal where the log knows that the call has ended', {
    ...promise('G26'),
  }, async () => {
    const { client, kinds } = setUp(sampleLog('c-1'));
    const outcome = await client.resolve(REF, OTHER, { requestId: 'r-2' });
    expect(outcome).toMatchObject({ verdict: 'stale', status: 'resolved', httpStatus: 409 });
    expect(kinds()).toEqual(['update']);
    expect(await outcome.final()).toMatchObject({ verdict: 'stale' });
  });

  it('is a duplicate where it is the one that was accepted', promise('G26'), async () => {
    const { client, kinds } = setUp(sampleLog('c-1'));
    const outcome = await client.resolve(REF, ANSWER, { requestId: 'answer-1' });
    expect(outcome).toMatchObject({ verdict: 'duplicate', first: { verdict: 'accepted', seq: 6 } });
    expect(kinds()).toEqual(['update']);
  });

  it('is expired without a signal where late results are not accepted, and left to the workflow where they are', async () => {
    const strict = setUp(expiredLog('reject'));
    expect(await strict.client.resolve(REF, OTHER, { requestId: 'r' })).toMatchObject({
      verdict: 'expired',
    });
    expect(strict.kinds()).toEqual(['update']);
    const late = setUp(expiredLog('inbox'));
    expect(await late.client.resolve(REF, OTHER, { requestId: 'r' })).toMatchObject({
      verdict: 'queued',
    });
    expect(late.kinds()).toContain('signal');
  });

  it.each([
    ['is open', sampleLog('c-1').slice(0, 5)],
    ['was resolved and may wait again', sampleLog('c-1').slice(0, 6)],
    ['is not known', []],
  ])('is left as a signal where the call %s', async (_what, events) => {
    const { client, kinds } = setUp(events);
    const outcome = await client.resolve(REF, OTHER, { requestId: 'r-2' });
    expect(outcome.verdict).toBe('queued');
    expect(kinds()).toEqual(['update', 'signal']);
  });

  it('is left as a signal where the log cannot be read, or is rewritten meanwhile', async () => {
    const away = setUp(sampleLog('c-1'));
    away.reader.failure = new Error('the store is away');
    expect((await away.client.resolve(REF, OTHER)).verdict).toBe('queued');
    const torn = setUp(sampleLog('c-1'));
    const events = torn.reader.events.bind(torn.reader);
    let generation = 0;
    torn.reader.events = async (key, options) => {
      generation += 1;
      const page = await events(key, { ...options, limit: 2 });
      return page === undefined ? undefined : { ...page, generation };
    };
    expect((await torn.client.resolve(REF, OTHER)).verdict).toBe('queued');
  });

  it('that was left as a signal has the end of its call as its final verdict, recorded or not', {
    ...promise('G28'),
  }, async () => {
    const { client, kinds, reader } = setUp(sampleLog('c-1').slice(0, 5));
    const outcome = await client.resolve(REF, OTHER, { requestId: 'r-2' });
    expect(outcome.verdict).toBe('queued');
    reader.add('c-1', sampleLog('c-1').slice(5));
    expect(await outcome.final({ timeout: '5s' })).toMatchObject({
      verdict: 'stale',
      status: 'resolved',
    });
    // The workflow was not queried again.
    expect(kinds().filter((kind) => kind === 'update')).toHaveLength(1);
  });
});
