/** Answers under a request id that the log has with other content: the verdicts of the workflow, from the log alone. */
import { WorkflowNotFoundError } from '@temporalio/client';
import { describe, expect, it } from 'vitest';
import { ConversationClient } from '../../../../src/client/conversation-client.js';
import type { Resolution } from '../../../../src/protocol/calls/resolutions.js';
import { resolutionDigest } from '../../../../src/protocol/calls/resolutions.js';
import type { CanonicalEvent } from '../../../../src/protocol/log/events.js';
import { stepIdFor } from '../../../../src/protocol/values/ids.js';
import { FakeReader } from '../../../support/fakes/fake-reader.js';
import { fakeTemporal, noAnswer } from '../../../support/fakes/fake-temporal.js';
import { promise } from '../../../support/promise.js';
import { CALL, SUPPORT, sampleLog, TURN } from '../../../support/samples/sample-log.js';

const REF = `default~c-1~${CALL}`;
const FIRST: Resolution = { type: 'answer', value: 'the first' };
const OTHER: Resolution = { type: 'answer', value: 'another' };
/** The id under which the log has `FIRST`. */
const ID = { requestId: 'answer-1' };
const REUSED = { verdict: 'invalid', problems: [{ path: '/requestId' }], httpStatus: 422 };

const notFound = (): Error =>
  new WorkflowNotFoundError('not found', 'conversation:default:c-1', undefined);

/** `failure`: no worker confirms in time, or the conversation has ended. */
function setUp(events: readonly CanonicalEvent[], failure: () => Error) {
  const { client: temporal, calls } = fakeTemporal({
    update: () => {
      throw failure();
    },
    signal: () => undefined,
    describe: () => ({ status: { name: 'RUNNING' }, runId: 'r' }),
  });
  const reader = new FakeReader();
  reader.add('c-1', events);
  const client = new ConversationClient({ temporal, agents: [SUPPORT], reader });
  return { client, kinds: () => calls.map(({ kind }) => kind) };
}

/** `FIRST` was reverted, and the next answer had an id of its own. */
function revertedLog(): readonly CanonicalEvent[] {
  const log = sampleLog('c-1', { closed: true });
  const reverted: CanonicalEvent = {
    ...{ type: 'resolution_reverted', seq: 7, at: '2026-01-01T00:00:03.500Z', turnId: TURN },
    ...{ toolCallId: CALL, requestId: ID.requestId },
    problems: [{ path: '/resolution/value', message: 'must be a colour' }],
  };
  const next = log.slice(5).map((event) => {
    const moved = { ...event, seq: event.seq + 2 };
    if (moved.type !== 'resolution') return moved;
    const resolution: Resolution = { type: 'answer', value: 'blue' };
    const digest = resolutionDigest(resolution);
    return { ...moved, resolution, digest, requestId: 'answer-2' };
  });
  return [...log.slice(0, 6), reverted, ...next];
}

const PATHS = [
  ['is not confirmed in time, and whose call has ended', noAnswer],
  ['comes after the end of the conversation', notFound],
] as const;

describe('a request id that the log has with other content', () => {
  it.each(PATHS)('makes an answer invalid that %s', promise('G37'), async (_when, failure) => {
    const { client, kinds } = setUp(sampleLog('c-1', { closed: true }), failure);
    expect(await client.resolve(REF, OTHER, ID)).toMatchObject(REUSED);
    expect(await client.resolve(REF, { type: 'decline' }, ID)).toMatchObject(REUSED);
    const meant = { ...ID, argsDigest: 'of another question' };
    expect(await client.resolve(REF, FIRST, meant)).toMatchObject(REUSED);
    expect(await client.resolve(REF, FIRST, ID)).toMatchObject({ verdict: 'duplicate' });
    expect(kinds()).not.toContain('signal');
  });

  it.each(PATHS)(
    'is free where that answer was reverted, for one that %s',
    {
      ...promise('G37'),
    },
    async (_when, failure) => {
      const { client } = setUp(revertedLog(), failure);
      for (const resolution of [OTHER, FIRST])
        expect(await client.resolve(REF, resolution, ID)).toMatchObject({
          ...{ verdict: 'stale', status: 'resolved', httpStatus: 409 },
        });
      const next = { requestId: 'answer-2' };
      expect(await client.resolve(REF, OTHER, next)).toMatchObject(REUSED);
    },
  );

  it('leaves the answer to the workflow while the call may go on', async () => {
    const { client, kinds } = setUp(sampleLog('c-1').slice(0, 6), noAnswer);
    expect(await client.resolve(REF, OTHER, ID)).toMatchObject({ verdict: 'queued' });
    expect(kinds()).toContain('signal');
  });

  it('makes the results of a step invalid that come after the end of the conversation', async () => {
    const result: Resolution = { type: 'result', value: { answer: 1 } };
    const log = sampleLog('c-1', { closed: true }).map((event) =>
      event.type === 'resolution'
        ? { ...event, resolution: result, digest: resolutionDigest(result) }
        : event,
    );
    const { client } = setUp(log, notFound);
    const send = (resultJson: string) =>
      client
        .conversation('c-1')
        .resolveBatch(stepIdFor(TURN, 1), [{ toolCallId: CALL, resultJson }], ID);
    expect(await send('{ "answer": 1 }')).toMatchObject({ verdict: 'duplicate', httpStatus: 200 });
    for (const other of ['2', 'no JSON'])
      expect(await send(other)).toMatchObject({
        ...{ verdict: 'invalid', faults: [{ path: '/requestId' }], httpStatus: 422 },
      });
  });
});
