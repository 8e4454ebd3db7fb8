/** Events of other systems to conversations that no longer run. */
import {
  WorkflowExecutionAlreadyStartedError,
  WorkflowFailedError,
  WorkflowNotFoundError,
} from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { expect, it } from 'vitest';
import type { CanonicalEvent } from '../../../../src/protocol/log/events.js';
import { FakeReader } from '../../../support/fakes/fake-reader.js';
import type { FakeCall, Script } from '../../../support/fakes/fake-temporal.js';
import { failureOf, setUp } from '../../../support/fakes/scripted-client.js';
import { promise } from '../../../support/promise.js';
import { sampleLog } from '../../../support/samples/sample-log.js';

const EVENT = { eventId: 'e-1', kind: 'order.paid', payload: { order: 7, by: ['card'] } };
const REPLY = { eventId: 'e-1', seq: 2 };

/** Takes the event only from a start that may follow the run that has ended. */
const startsAfter = ({ options }: FakeCall): unknown => {
  if (options['workflowIdReusePolicy'] !== 'REJECT_DUPLICATE') return REPLY;
  throw new WorkflowExecutionAlreadyStartedError('closed', 'conversation:default:c-1', 'c');
};

const COMPLETED: Script = {
  describe: () => ({ status: { name: 'COMPLETED' }, runId: 'run-1' }),
  updateWithStart: startsAfter,
};

const NOTHING: Script = {
  describe: () => ({ status: { name: 'FAILED' }, runId: 'run-1' }),
  updateWithStart: startsAfter,
  result: () => {
    const cause = ApplicationFailure.nonRetryable('nothing', 'not_admitted');
    throw new WorkflowFailedError('failed', cause, 'NON_RETRYABLE_FAILURE');
  },
};

const GONE: Script = {
  describe: () => {
    throw new WorkflowNotFoundError('gone', 'conversation:default:c-1', undefined);
  },
};

/** A log with the event, of which the conversation is closed. */
function closedLog(): FakeReader {
  const recorded: CanonicalEvent = {
    ...{ type: 'inbox_event', seq: 10, at: '2026-01-01T00:00:06.000Z', ...EVENT },
    actor: { id: 'anonymous', verified: false, channel: 'client' },
  };
  const reader = new FakeReader();
  const log = sampleLog('c-1', { closed: true });
  reader.add('c-1', [
    ...log.slice(0, -1),
    recorded,
    ...log.slice(-1).map((event) => ({ ...event, seq: 11 })),
  ]);
  return reader;
}

it('begin a conversation anew whose last one was deleted', promise('G126'), async () => {
  const reader = Object.assign(new FakeReader(), { isDeletedRun: () => Promise.resolve(true) });
  const { conversation, calls } = setUp(COMPLETED, { reader });
  expect(await conversation.sendEvent(EVENT)).toMatchObject({ ...REPLY, duplicate: false });
  expect(calls.at(-1)?.options['workflowIdReusePolicy']).toBe('ALLOW_DUPLICATE');
});

it('begin a conversation whose only run had admitted nothing', promise('G126'), async () => {
  const { conversation, calls } = setUp(NOTHING, { reader: new FakeReader() });
  expect(await conversation.sendEvent(EVENT)).toMatchObject({ ...REPLY, duplicate: false });
  expect(calls.at(-1)?.options['workflowIdReusePolicy']).toBe('ALLOW_DUPLICATE_FAILED_ONLY');
});

it('do not begin one over a log that has an event', promise('G126'), async () => {
  const reader = new FakeReader();
  const [started] = sampleLog('c-1');
  if (started === undefined) throw new Error('the sample is empty');
  const recorded: CanonicalEvent = {
    ...{ type: 'inbox_event', seq: 2, at: '2026-01-01T00:00:06.000Z', ...EVENT, eventId: 'e-0' },
    actor: { id: 'anonymous', verified: false, channel: 'client' },
  };
  reader.add('c-1', [started, recorded]);
  const { conversation } = setUp(NOTHING, { reader });
  expect((await failureOf(conversation.sendEvent(EVENT))).code).toBe('conversation_closed');
});

it.each([
  ['the server still has', COMPLETED],
  ['only the log has', GONE],
])(
  'are duplicates after the close of a conversation that %s, or are refused',
  promise('G126'),
  async (_where, script) => {
    const { conversation } = setUp(script, { reader: closedLog() });
    expect(await conversation.sendEvent({ ...EVENT, payload: { by: ['card'], order: 7 } })).toEqual(
      {
        ...{ status: 'admitted', eventId: 'e-1', seq: 10, duplicate: true },
      },
    );
    const other = await failureOf(conversation.sendEvent({ ...EVENT, payload: 'other' }));
    expect(other).toMatchObject({ code: 'invalid_request', problems: [{ path: '/eventId' }] });
    const unknown = await failureOf(conversation.sendEvent({ ...EVENT, eventId: 'e-2' }));
    expect(unknown.code).toBe('conversation_closed');
  },
);
