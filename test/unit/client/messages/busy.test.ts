/** Messages that arrive faster than the workers answer: those without a place are refused, and start no run. */
import { beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { ConversationError } from '../../../../src/client/api/errors.js';
import type { SendOptions } from '../../../../src/client/api/types.js';
import type { ConversationClient } from '../../../../src/client/conversation-client.js';
import { setUp } from '../../../support/fakes/scripted-client.js';
import { promise } from '../../../support/promise.js';
import { TURN } from '../../../support/samples/sample-log.js';

const REPLY = { turnId: TURN, messageId: 'm_1', seq: 2, ahead: 0 };
const MESSAGES = 300;
/** Milliseconds of the worker for each message. */
const ANSWER_MS = 50;

beforeEach(() => {
  vi.useFakeTimers();
  onTestFinished(() => {
    vi.useRealTimers();
  });
});

type Sent = 'admitted' | 'queued' | ConversationError;

/** Sends one message to each of so many new conversations at once. */
async function sendAll(client: ConversationClient, count: number, options: SendOptions = {}) {
  const sent = Array.from({ length: count }, async (_, nth): Promise<Sent> => {
    try {
      const conversation = client.conversation(`c-${nth}`, { agent: 'support' });
      return (await conversation.send('Hello', options)).status;
    } catch (error) {
      if (ConversationError.isInstance(error)) return error;
      throw error;
    }
  });
  const ended = Promise.all(sent);
  await vi.advanceTimersByTimeAsync(20_000);
  return await ended;
}

/** A server whose worker takes one message after the other. */
function slowServer() {
  let freeAt = Date.now();
  return setUp({
    updateWithStart: async () => {
      freeAt = Math.max(freeAt, Date.now()) + ANSWER_MS;
      await new Promise((resolve) => setTimeout(resolve, freeAt - Date.now()));
      return REPLY;
    },
  });
}

it('a message without a place is refused with a time to return, and is not left as a signal', {
  ...promise('G399'),
}, async () => {
  const { client, calls } = slowServer();
  const sent = await sendAll(client, MESSAGES, { busyTimeout: 2_500 });
  const refused = sent.filter((one) => ConversationError.isInstance(one));
  expect(refused.length).toBeGreaterThan(100);
  for (const { code, retryable, retryAfterMs } of refused) {
    expect({ code, retryable }).toEqual({ code: 'workers_busy', retryable: true });
    expect(retryAfterMs).toBeGreaterThanOrEqual(1_000);
  }
  const admitted = MESSAGES - refused.length;
  expect(calls.map(({ kind }) => kind)).toEqual(Array(admitted).fill('updateWithStart'));
  expect(sent.filter((one) => one === 'admitted')).toHaveLength(admitted);
});

it('a message waits for 30 s where the caller sets no time', promise('G399'), async () => {
  const { client } = slowServer();
  const sent = await sendAll(client, MESSAGES);
  expect(sent.filter((one) => one === 'admitted')).toHaveLength(MESSAGES);
});

it('a time that is no duration is refused by its field', async () => {
  const { client, calls } = slowServer();
  const options = { busyTimeout: 'soon' as never };
  const sent = client.conversation('c-1', { agent: 'support' }).send('Hello', options);
  await expect(sent).rejects.toMatchObject({ problems: [{ path: '/busyTimeout' }] });
  expect(calls).toEqual([]);
});

it('every message is queued where no worker answers, however many there are', {
  ...promise('G399'),
}, async () => {
  const { client, calls } = setUp({
    updateWithStart: () => new Promise(() => undefined),
    signalWithStart: () => undefined,
    describe: () => ({ status: { name: 'RUNNING' } }),
  });
  const sent = await sendAll(client, MESSAGES);
  expect(sent.filter((one) => one === 'queued')).toHaveLength(MESSAGES);
  const signals = calls.filter(({ kind }) => kind === 'signalWithStart');
  expect(new Set(signals.map(({ workflowId }) => workflowId)).size).toBe(MESSAGES);
});
