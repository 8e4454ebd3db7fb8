/** `final()` of answers that a worker still has to check. */
import { describe, expect, it } from 'vitest';
import { ConversationClient } from '../../../../src/client/conversation-client.js';
import type { AcceptedVerdict, Resolution } from '../../../../src/protocol/calls/resolutions.js';
import type { CanonicalEvent } from '../../../../src/protocol/log/events.js';
import { FakeReader } from '../../../support/fakes/fake-reader.js';
import { fakeTemporal, noAnswer, refusal } from '../../../support/fakes/fake-temporal.js';
import { promise } from '../../../support/promise.js';
import { CALL, SUPPORT, sampleLog, TURN } from '../../../support/samples/sample-log.js';

const REF = `default~c-1~${CALL}`;
const ANSWER: Resolution = { type: 'answer', value: 'the first' };
const ID = { requestId: 'answer-1' };
const UNCHECKED: AcceptedVerdict = {
  verdict: 'accepted',
  toolCallId: CALL,
  seq: 6,
  checked: false,
};
const CHECKED: AcceptedVerdict = { verdict: 'accepted', toolCallId: CALL, seq: 6 };
const PROBLEMS = [{ path: '/resolution/value', message: 'must be a colour' }];
const INVALID = { verdict: 'invalid', problems: PROBLEMS };
const AT = '2026-01-01T00:00:04.000Z';
const ABOUT = { at: AT, turnId: TURN, toolCallId: CALL };

/** Six events: the answer was accepted, and is unchecked. */
const LOG: readonly CanonicalEvent[] = sampleLog('c-1')
  .slice(0, 6)
  .map((event) => (event.type === 'resolution' ? { ...event, checked: false } : event));
const RESULT = sampleLog('c-1').slice(6, 7);
const REVERTED: CanonicalEvent = {
  ...{ type: 'resolution_reverted', seq: 7, ...ABOUT, ...ID },
  problems: PROBLEMS,
};

/** Only the log answers: its last events, and those that come during the test (`reader.add`). */
function setUp(events: readonly CanonicalEvent[], update: () => unknown) {
  const { client: temporal, calls } = fakeTemporal({
    update,
    signal: () => undefined,
    query: () => {
      throw noAnswer();
    },
    describe: () => ({ status: { name: 'RUNNING' }, runId: 'r' }),
  });
  const reader = new FakeReader();
  reader.add('c-1', events);
  const client = new ConversationClient({ temporal, agents: [SUPPORT], reader });
  return { client, reader, calls };
}

describe('the final verdict on an answer that is accepted with `checked: false`', () => {
  it.each<[string, () => unknown]>([
    ['is new', () => UNCHECKED],
    [
      'is a repeat',
      () => {
        throw refusal('verdict', { verdict: 'duplicate', first: UNCHECKED });
      },
    ],
  ])('is that of the check, where the answer %s', promise('G25'), async (_what, update) => {
    const passed = setUp(LOG, update);
    const outcome = await passed.client.resolve(REF, ANSWER, ID);
    expect(outcome.httpStatus).toBe(200);
    expect(await outcome.final({ timeout: 1 })).toEqual(UNCHECKED);
    passed.reader.add('c-1', RESULT);
    expect(await outcome.final({ timeout: '5s' })).toEqual(CHECKED);

    const failed = setUp(LOG, update);
    const other = await failed.client.resolve(REF, ANSWER, ID);
    failed.reader.add('c-1', [REVERTED]);
    expect(await other.final({ timeout: '5s' })).toEqual(INVALID);
    expect(failed.calls.filter(({ kind }) => kind === 'update')).toHaveLength(1);
  });

  it('is that of the check, where the answer was left as a signal', promise('G25'), async () => {
    const { client, reader } = setUp(LOG.slice(0, 5), () => {
      throw noAnswer();
    });
    const outcome = await client.resolve(REF, ANSWER, ID);
    expect(outcome.verdict).toBe('queued');
    expect(await outcome.final({ timeout: 1 })).toMatchObject({ verdict: 'queued' });
    reader.add('c-1', LOG.slice(5));
    expect(await outcome.final({ timeout: 1 })).toEqual(UNCHECKED);
    reader.add('c-1', [REVERTED]);
    expect(await outcome.final({ timeout: '5s' })).toEqual(INVALID);
  });

  it.each<[string, readonly CanonicalEvent[], CanonicalEvent]>([
    [
      'a worker has checked the answer to a question of a tool',
      [],
      { type: 'answer_checked', seq: 7, ...ABOUT, ...ID },
    ],
    [
      'the conversation is closed',
      [],
      {
        ...{ type: 'conversation_closed', seq: 7, at: AT, reason: 'requested' },
        actor: { id: 'ann', verified: true, channel: 'client' },
      },
    ],
  ])('is accepted once %s', async (_when, before, last) => {
    const { client, reader } = setUp([...LOG, ...before], () => UNCHECKED);
    const outcome = await client.resolve(REF, ANSWER, ID);
    reader.add('c-1', [last]);
    expect(await outcome.final({ timeout: '5s' })).toEqual(CHECKED);
  });

  it('is open until the code of the tool has taken the answer, where that checks it too', async () => {
    const question = { form: { type: 'string' }, byCode: true } as const;
    const asked: CanonicalEvent = {
      ...{ type: 'tool_asked', seq: 5, ...ABOUT, run: 1, ask: 1, argsDigest: 'ask:1:d' },
      question,
    };
    const log = [...LOG.slice(0, 4), asked, ...LOG.slice(5)];
    const { client, reader } = setUp(log, () => UNCHECKED);
    const outcome = await client.resolve(REF, ANSWER, ID);
    reader.add('c-1', [{ type: 'answer_checked', seq: 7, ...ABOUT, ...ID }]);
    expect(await outcome.final({ timeout: 1 })).toEqual(UNCHECKED);
    reader.add('c-1', [{ ...REVERTED, seq: 8 }]);
    expect(await outcome.final({ timeout: '5s' })).toEqual(INVALID);
  });

  it('is that of this try, not of an earlier one with the same answer and id that was reverted', {
    ...promise('G25'),
  }, async () => {
    const { client, reader } = setUp([...LOG, REVERTED], () => {
      throw noAnswer();
    });
    const outcome = await client.resolve(REF, ANSWER, ID);
    expect(await outcome.final({ timeout: 1 })).toMatchObject({ verdict: 'queued' });
    reader.add('c-1', [
      ...LOG.slice(5).map((event) => ({ ...event, seq: 8 })),
      { ...REVERTED, seq: 9 },
    ]);
    expect(await outcome.final({ timeout: '5s' })).toEqual(INVALID);
  });

  it('is that of this answer, not of an earlier one that was reverted under the same id', async () => {
    const earlier: CanonicalEvent[] = LOG.map((event) =>
      event.type === 'resolution' ? { ...event, digest: 'of another' } : event,
    );
    const { client, reader } = setUp([...earlier, REVERTED], () => {
      throw noAnswer();
    });
    const outcome = await client.resolve(REF, ANSWER, ID);
    expect(await outcome.final({ timeout: 1 })).toMatchObject({ verdict: 'queued' });
    reader.add('c-1', [
      ...LOG.slice(5).map((event) => ({ ...event, seq: 8 })),
      ...RESULT.map((event) => ({ ...event, seq: 9 })),
    ]);
    expect(await outcome.final({ timeout: '5s' })).toEqual({ ...CHECKED, seq: 8 });
  });
});
