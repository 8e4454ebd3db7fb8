import {
  WorkflowExecutionAlreadyStartedError,
  WorkflowFailedError,
  WorkflowNotFoundError,
} from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { describe, expect, it } from 'vitest';
import type { SendOptions } from '../../../../src/client/api/types.js';
import { StoreUnavailable } from '../../../../src/store/ports/log.js';
import { FakeReader } from '../../../support/fakes/fake-reader.js';
import { noAnswer, refusal, type Script } from '../../../support/fakes/fake-temporal.js';
import { failureOf, setUp } from '../../../support/fakes/scripted-client.js';
import { sampleLog, TURN } from '../../../support/samples/sample-log.js';

const REPLY = { turnId: TURN, messageId: 'm_1', seq: 2, ahead: 0 };

const alreadyStarted = (): never => {
  throw new WorkflowExecutionAlreadyStartedError(
    'closed',
    'conversation:default:c-1',
    'conversation',
  );
};

const gone = (): never => {
  throw new WorkflowNotFoundError('gone', 'conversation:default:c-1', undefined);
};

describe('a closed conversation', () => {
  const closedRun = { describe: () => ({ status: { name: 'COMPLETED' }, runId: 'run-1' }) };

  it('refuses messages with 410 and says how to continue', async () => {
    const reader = new FakeReader();
    reader.add('c-1', sampleLog('c-1', { closed: true }));
    const { conversation, calls } = setUp(closedRun, { reader });
    const error = await failureOf(conversation.send('Hello'));
    expect(error).toMatchObject({ code: 'conversation_closed', httpStatus: 410 });
    expect(error.message).toContain('reopen: true');
    expect(calls.some((call) => call.kind === 'updateWithStart')).toBe(false);
  });

  it('is not started anew when Temporal has forgotten it but the log has not', async () => {
    const reader = new FakeReader();
    reader.add('c-1', sampleLog('c-1', { closed: true }));
    const { conversation } = setUp(
      { describe: () => ({ status: { name: 'UNKNOWN' } }) },
      { reader },
    );
    expect((await failureOf(conversation.send('Hello'))).code).toBe('conversation_closed');
  });

  it('that only the log has is closed for one who revokes a rule of it', async () => {
    const reader = new FakeReader();
    reader.add('c-1', sampleLog('c-1', { closed: true }));
    const script = { update: gone, describe: gone };
    const known = await failureOf(setUp(script, { reader }).conversation.revokeRule('r-1'));
    expect(known.code).toBe('conversation_closed');
    const none = setUp(script, { reader: new FakeReader() }).conversation;
    expect((await failureOf(none.revokeRule('r-1'))).code).toBe('unknown_conversation');
  });

  it('that only the log could have exists by no answer while the log is away', async () => {
    const reader = new FakeReader();
    const { conversation } = setUp({ describe: gone }, { reader });
    expect(await conversation.exists()).toBe(false);
    reader.failure = new StoreUnavailable('the disk is gone');
    expect((await failureOf(conversation.exists())).code).toBe('store_unavailable');
    // One that is slow may have it as well.
    reader.snapshot = () => new Promise(() => undefined);
    expect((await failureOf(conversation.exists())).code).toBe('store_unavailable');
    const run = { status: { name: 'COMPLETED' }, runId: 'run-1', memo: { agent: 'support' } };
    expect(await setUp({ describe: () => run }, { reader }).conversation.exists()).toBe(true);
  });

  it.each(['RUNNING', 'PAUSED'])(
    'continues where the log is behind its opening, its run being %s',
    async (name) => {
      const reader = new FakeReader();
      reader.add('c-1', sampleLog('c-1', { closed: true }));
      const describe = () => ({ status: { name }, runId: 'run-2' });
      const { conversation, calls } = setUp({ describe, updateWithStart: () => REPLY }, { reader });
      expect(await conversation.send('Hello')).toMatchObject({ status: 'admitted' });
      const start = calls.find((call) => call.kind === 'updateWithStart')?.options;
      // A running conversation is never started over.
      expect(start).toMatchObject({ workflowIdReusePolicy: 'REJECT_DUPLICATE' });
    },
  );

  it('still answers a repeat of a message that was accepted while it was open', async () => {
    const reader = new FakeReader();
    reader.add('c-1', sampleLog('c-1', { closed: true }));
    const { conversation } = setUp(closedRun, { reader });
    expect(await conversation.send('Hello', { requestId: 'first' })).toMatchObject({
      turnId: TURN,
      seq: 2,
      duplicate: true,
    });
  });

  it.each<[string, string, SendOptions]>([
    ['text', 'Other', {}],
    [
      'attachments',
      'Hello',
      {
        attachments: [
          { type: 'image', source: { url: 'https://shop.test/a.png' }, mediaType: 'image/png' },
        ],
      },
    ],
    ['format of the answer', 'Hello', { output: { type: 'object', properties: {} } }],
  ])('refuses another %s under a used request id', async (_what, text, options) => {
    const reader = new FakeReader();
    reader.add('c-1', sampleLog('c-1', { closed: true }));
    const { conversation } = setUp(closedRun, { reader });
    const sent = conversation.send(text, { ...options, requestId: 'first' });
    expect(await failureOf(sent)).toMatchObject({
      code: 'invalid_request',
      problems: [{ path: '/requestId' }],
    });
  });

  it('is opened again on request: the run gets the closed run to restore the state of', async () => {
    const reader = new FakeReader();
    reader.add('c-1', sampleLog('c-1', { closed: true }));
    const { conversation, calls } = setUp(
      { ...closedRun, updateWithStart: () => REPLY },
      { reader },
    );
    expect(await conversation.send('Hello', { reopen: true })).toMatchObject({
      status: 'admitted',
    });
    const start = calls.find((call) => call.kind === 'updateWithStart')?.options;
    expect(start).toMatchObject({
      workflowIdReusePolicy: 'ALLOW_DUPLICATE',
      args: [{ reopen: { closedRunId: 'run-1' } }],
    });
    expect(JSON.stringify(start)).not.toContain('carried');
  });

  it('is opened again by a client that cannot read the log', async () => {
    let tries = 0;
    const { conversation, calls } = setUp({
      ...closedRun,
      updateWithStart: () => {
        tries += 1;
        return tries === 1 ? alreadyStarted() : REPLY;
      },
    });
    expect(await conversation.send('Hello', { reopen: true })).toMatchObject(REPLY);
    expect(calls.at(-1)?.options['args']).toMatchObject([{ reopen: { closedRunId: 'run-1' } }]);
  });

  it('is opened again when only the log knows it', async () => {
    const reader = new FakeReader();
    reader.add('c-1', sampleLog('c-1', { closed: true }));
    const { conversation, calls } = setUp(
      { describe: () => gone(), updateWithStart: () => REPLY },
      { reader },
    );
    expect(await conversation.send('Hello', { reopen: true })).toMatchObject(REPLY);
    const { args } = calls.at(-1)?.options ?? {};
    expect(args).toMatchObject([{ reopen: {} }]);
    expect(JSON.stringify(args)).not.toContain('closedRunId');
  });

  it('may begin after a run that had admitted nothing', async () => {
    let tries = 0;
    const { conversation, calls } = setUp({
      updateWithStart: () => {
        tries += 1;
        return tries === 1 ? alreadyStarted() : REPLY;
      },
      describe: () => ({ status: { name: 'FAILED' }, runId: 'run-1' }),
      result: () => {
        const cause = ApplicationFailure.nonRetryable('nothing', 'not_admitted');
        throw new WorkflowFailedError('failed', cause, 'NON_RETRYABLE_FAILURE');
      },
    });
    expect(await conversation.send('Hello')).toMatchObject({ status: 'admitted' });
    expect(calls.at(-1)?.options['workflowIdReusePolicy']).toBe('ALLOW_DUPLICATE_FAILED_ONLY');
  });
});

/**
 * The client opened the conversation again, and the message was refused: the newest run ended without having admitted
 * an input.
 */
const emptyRun: Script = {
  describe: () => ({ status: { name: 'FAILED' }, runId: 'run-2' }),
  result: () => {
    const cause = ApplicationFailure.nonRetryable('nothing', 'not_admitted');
    throw new WorkflowFailedError('failed', cause, 'NON_RETRYABLE_FAILURE');
  },
};

describe('a conversation whose newest run admitted nothing', () => {
  const startOnce = (): (() => unknown) => {
    let tries = 0;
    return () => {
      tries += 1;
      return tries === 1 ? alreadyStarted() : REPLY;
    };
  };

  it('is not started anew over the events in the log', async () => {
    const reader = new FakeReader();
    reader.add('c-1', sampleLog('c-1'));
    const script = { ...emptyRun, updateWithStart: alreadyStarted };
    const { conversation } = setUp(script, { reader });
    expect((await failureOf(conversation.send('Hello'))).code).toBe('conversation_closed');
  });

  it('continues from its log when it is opened again', async () => {
    const reader = new FakeReader();
    reader.add('c-1', sampleLog('c-1'));
    const script = { ...emptyRun, updateWithStart: startOnce() };
    const { conversation, calls } = setUp(script, { reader });
    await conversation.send('Hello', { reopen: true });
    expect(calls.at(-1)?.options).toMatchObject({
      workflowIdReusePolicy: 'ALLOW_DUPLICATE',
      args: [{ reopen: { closedRunId: 'run-2' } }],
    });
  });

  it('may begin when the log has only its start', async () => {
    const reader = new FakeReader();
    reader.add('c-1', sampleLog('c-1').slice(0, 1));
    const script = { ...emptyRun, updateWithStart: startOnce() };
    const { conversation } = setUp(script, { reader });
    expect(await conversation.send('Hello')).toMatchObject({ status: 'admitted' });
  });

  it('is not started over a log that cannot be read', async () => {
    const reader = new FakeReader();
    reader.failure = new StoreUnavailable('the disk is gone');
    const script = { ...emptyRun, updateWithStart: alreadyStarted };
    const { conversation } = setUp(script, { reader });
    expect((await failureOf(conversation.send('Hello'))).code).toBe('store_unavailable');
  });
});

describe('opening a closed conversation again', () => {
  const closedRun: Script = {
    describe: () => ({ status: { name: 'COMPLETED' }, runId: 'run-1' }),
    updateWithStart: () => REPLY,
  };
  const reopening = (script: Script) => {
    const reader = new FakeReader();
    reader.add('c-1', sampleLog('c-1', { closed: true }));
    return setUp({ ...closedRun, ...script }, { reader });
  };

  it('waits for a run that is still closing, as on a busy machine', async () => {
    let refused = 0;
    const { conversation } = reopening({
      updateWithStart: () => {
        if (refused === 6) return REPLY;
        refused += 1;
        throw refusal('conversation_closed', { message: 'closed' });
      },
    });
    expect(await conversation.send('Hello', { reopen: true })).toMatchObject({
      status: 'admitted',
    });
    expect(refused).toBe(6);
  });

  it('is not tried again when the run has found that it cannot be done', async () => {
    const message = 'Conversation "c-1" cannot be reopened: its log is not in the store';
    const { conversation, calls } = reopening({
      updateWithStart: () => {
        throw refusal('conversation_closed', { message, reopened: 'never' });
      },
    });
    expect(await failureOf(conversation.send('Hello', { reopen: true }))).toMatchObject({
      code: 'conversation_closed',
      httpStatus: 410,
      message,
    });
    expect(calls.filter(({ kind }) => kind === 'updateWithStart')).toHaveLength(1);
  });

  it.each([
    ['never gives it to another agent, and names the right one', 'agent_mismatch', 409, false],
    ['reports a store that is down', 'store_unavailable', 503, true],
    ['reports that no worker returns its last turns', 'no_worker', 503, true],
  ])('%s, as its run has found', async (_what, code, httpStatus, retryable) => {
    const { conversation } = reopening({
      updateWithStart: () => {
        throw refusal(code, { message: 'why' });
      },
    });
    expect(await failureOf(conversation.send('Hello', { reopen: true }))).toMatchObject({
      code,
      httpStatus,
      retryable,
      message: 'why',
    });
  });

  it('goes on waiting for a message that was left as a signal, while its run cannot restore the state', async () => {
    const updateIds: unknown[] = [];
    const { conversation } = reopening({
      updateWithStart: () => {
        throw noAnswer();
      },
      signalWithStart: () => undefined,
      query: () => undefined,
      update: ({ options }) => {
        updateIds.push(options['updateId']);
        if (updateIds.length < 3)
          throw refusal('store_unavailable', { message: 'down', reopened: 'later' });
        throw refusal('duplicate', REPLY);
      },
    });
    const sent = await conversation.send('Hello', { reopen: true });
    if (sent.status !== 'queued') throw new Error('it was admitted');
    expect(await sent.final({ timeout: '5s' })).toMatchObject(REPLY);
    // The server repeats the outcome of an update.
    expect(new Set(updateIds).size).toBe(3);
  });
});
