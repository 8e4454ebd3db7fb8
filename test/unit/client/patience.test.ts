/** `patience`: how long a client waits for a worker before an input is left as a signal. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ConversationClientOptions } from '../../../src/client/api/types.js';
import { setUp } from '../../support/fakes/scripted-client.js';
import { promise } from '../../support/promise.js';
import { TURN } from '../../support/samples/sample-log.js';

const REPLY = { turnId: TURN, messageId: 'm', seq: 2, ahead: 0 };

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** The outcome of a message whose worker answers after ten seconds. */
async function sentWith(options: Partial<ConversationClientOptions>): Promise<string> {
  const { conversation } = setUp(
    {
      updateWithStart: () =>
        new Promise((resolve) => {
          setTimeout(resolve, 10_000, REPLY);
        }),
      signalWithStart: () => undefined,
      describe: () => {
        throw new Error('nothing is known');
      },
    },
    options,
  );
  const sending = conversation.send('Hello');
  await vi.advanceTimersByTimeAsync(20_000);
  return (await sending).status;
}

describe('a worker that answers after ten seconds', () => {
  it('is too late for a client of the usual patience: the message is queued', async () => {
    expect(await sentWith({})).toBe('queued');
  });

  it('is waited for by a client of four times the patience', promise('G27'), async () => {
    expect(await sentWith({ patience: 4 })).toBe('admitted');
  });
});
