import { WorkflowExecutionAlreadyStartedError, WorkflowFailedError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { describe, expect, it } from 'vitest';
import { carriedMemory } from '../../../../src/core/context/carry-over.js';
import { offloadedEvent, withOffloaded } from '../../../../src/core/context/offloaded.js';
import { messageBytes } from '../../../../src/core/context/transcript.js';
import type { Message } from '../../../../src/protocol/conversation/messages.js';
import type { ConversationInput } from '../../../../src/protocol/workflow/messaging.js';
import { StoreUnavailable } from '../../../../src/store/ports/log.js';
import { FakeReader } from '../../../support/fakes/fake-reader.js';
import { refusal, type Script } from '../../../support/fakes/fake-temporal.js';
import { failureOf, setUp } from '../../../support/fakes/scripted-client.js';
import { sampleLog, TURN } from '../../../support/samples/sample-log.js';
import { aConversationState } from '../../../support/samples/transcripts.js';

const REPLY = { turnId: TURN, messageId: 'm_1', seq: 2, ahead: 0 };

const alreadyStarted = (): never => {
  throw new WorkflowExecutionAlreadyStartedError(
    'closed',
    'conversation:default:c-1',
    'conversation',
  );
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

  it('is opened again from its log on request', async () => {
    const reader = new FakeReader();
    reader.add('c-1', sampleLog('c-1', { closed: true }));
    reader.carried = { version: 1, state: { kept: true }, events: [] };
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
      args: [{ carried: { version: 1, state: { kept: true }, reopened: true } }],
    });
  });

  it('cannot be opened again without its log', async () => {
    const { conversation } = setUp({
      ...closedRun,
      updateWithStart: alreadyStarted,
      query: () => undefined,
    });
    expect((await failureOf(conversation.send('Hello', { reopen: true }))).message).toContain(
      'event log',
    );
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
    reader.carried = { version: 1, state: { agent: 'support' }, events: [] };
    const script = { ...emptyRun, updateWithStart: startOnce() };
    const { conversation, calls } = setUp(script, { reader });
    await conversation.send('Hello', { reopen: true });
    expect(calls.at(-1)?.options).toMatchObject({
      workflowIdReusePolicy: 'ALLOW_DUPLICATE',
      args: [{ carried: { state: { agent: 'support' }, reopened: true } }],
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
  const reopening = (state: unknown) => {
    const reader = new FakeReader();
    reader.add('c-1', sampleLog('c-1', { closed: true }));
    reader.carried = { version: 1, state, events: [] };
    return { reader, ...setUp(closedRun, { reader }) };
  };
  const stateOf = (turns: number, bytesOfTurn: number, rest: object = {}) => {
    const transcript: Message[] = Array.from({ length: turns }, (_, index) => ({
      role: 'user',
      id: `m_${index}`,
      turnId: `turn_abc_${index}`,
      parts: [{ type: 'text', text: 'x'.repeat(bytesOfTurn) }],
    }));
    const transcriptBytes = transcript.reduce((sum, message) => sum + messageBytes(message), 0);
    return { agent: 'support', transcript, transcriptBytes, ...rest };
  };

  it('waits for a run that is still closing, as on a busy machine', async () => {
    const reader = new FakeReader();
    reader.add('c-1', sampleLog('c-1', { closed: true }));
    reader.carried = { version: 1, state: { agent: 'support' }, events: [] };
    let refused = 0;
    const updateWithStart = () => {
      if (refused === 6) return REPLY;
      refused += 1;
      throw refusal('conversation_closed', { message: 'closed' });
    };
    const { conversation } = setUp({ ...closedRun, updateWithStart }, { reader });
    expect(await conversation.send('Hello', { reopen: true })).toMatchObject({
      status: 'admitted',
    });
    expect(refused).toBe(6);
  });

  it('never gives it to another agent, and names the right one', async () => {
    const { conversation, calls } = reopening({ agent: 'sales' });
    const error = await failureOf(conversation.send('Hello', { reopen: true }));
    expect(error).toMatchObject({
      code: 'agent_mismatch',
      httpStatus: 409,
      problems: [{ path: '/agent', message: 'must be "sales"' }],
    });
    expect(calls.some((call) => call.kind === 'updateWithStart')).toBe(false);
  });

  it('carries a transcript of 1.8 MB whole', async () => {
    const { conversation, calls } = reopening(stateOf(17, 100_000));
    await conversation.send('Hello', { reopen: true });
    const [input] = calls.at(-1)?.options['args'] as [{ carried: { state: { transcript: [] } } }];
    expect(input.carried.state.transcript).toHaveLength(17);
  });

  it('drops the oldest turns of a larger transcript, so that the server accepts it', async () => {
    const { conversation, calls } = reopening(stateOf(40, 100_000));
    await conversation.send('Hello', { reopen: true });
    const [input] = calls.at(-1)?.options['args'] as [ConversationInput];
    const state = input.carried?.state as ReturnType<typeof stateOf>;
    expect(JSON.stringify(input).length).toBeLessThan(1_900_000);
    expect(state.transcript.at(-1)).toMatchObject({ id: 'm_39' });
    // The run writes it into the log.
    expect(input.carried?.droppedMessages).toBe(40 - state.transcript.length);
    expect(state.transcript.length).toBeGreaterThan(5);
    const left = state.transcript.reduce((sum, message) => sum + messageBytes(message), 0);
    expect(state.transcriptBytes).toBe(left);
  });

  it('names the chunks of dropped turns as unused, so that they are removed', async () => {
    const { transcript } = stateOf(25, 100_000);
    const ids = ['chunk-1', 'chunk-2'];
    const plan = { messages: transcript.slice(0, 3), chunks: [2, 1] };
    const stored = withOffloaded(aConversationState(transcript), offloadedEvent(plan, ids));
    const { conversation, calls, reader } = reopening({});
    reader.carried = { ...carriedMemory(stored), unusedChunks: ['older'], events: [] };
    await conversation.send('Hello', { reopen: true });
    const [input] = calls.at(-1)?.options['args'] as [ConversationInput];
    expect(JSON.stringify(input.carried?.state)).not.toContain('offloaded');
    expect(input.carried?.unusedChunks).toEqual(['older', ...ids]);
  });

  it('is refused when the rest alone is too large for the server', async () => {
    const { conversation } = reopening(stateOf(1, 10, { requests: 'x'.repeat(2_000_000) }));
    const error = await failureOf(conversation.send('Hello', { reopen: true }));
    expect(error).toMatchObject({ code: 'conversation_closed', httpStatus: 410 });
    expect(error.message).toContain('Begin another one');
  });

  it('waits for a worker when only a worker can read its last turns', async () => {
    const { conversation, reader } = reopening({});
    reader.seedFailure = Object.assign(new Error('no worker answers'), { code: 'no_worker' });
    const error = await failureOf(conversation.send('Hello', { reopen: true }));
    expect(error).toMatchObject({ code: 'no_worker', httpStatus: 503, retryable: true });
    expect(error.message).toContain('last turns');
    expect(error.message).toContain('npx colloquy worker');
  });
});
