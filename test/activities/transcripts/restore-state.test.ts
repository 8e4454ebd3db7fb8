/** The state of a closed conversation is restored, or the failure says whether another try has a chance. */
import { describe, expect, it } from 'vitest';
import { LogIncomplete } from '../../../src/projection/catch-up/complete-log.js';
import { NotReopenable } from '../../../src/projection/reading/reopening.js';
import { environment, key, setUp } from '../tools/fixtures.js';

const WANTED = { ...key, chain: 'chain-of-the-run' };

describe('restoring the state of a closed conversation', () => {
  it('returns the state from the store', async () => {
    const carried = { version: 1, state: { lastSeq: 7 }, events: [] } as const;
    const { activities } = setUp({ restoreState: () => Promise.resolve(carried) });
    expect(await environment().run(activities.restoreState, WANTED)).toEqual(carried);
  });

  it('is retried while the store is away', async () => {
    const { activities } = setUp();
    await expect(environment().run(activities.restoreState, WANTED)).rejects.toMatchObject({
      type: 'store_unavailable',
      nonRetryable: false,
      message: 'no store',
    });
  });

  it('is retried while the store lacks the last turns and no worker returns them', async () => {
    const { activities } = setUp({
      restoreState: () => Promise.reject(new LogIncomplete('its last turns are not in the store')),
    });
    await expect(environment().run(activities.restoreState, WANTED)).rejects.toMatchObject({
      type: 'no_worker',
      nonRetryable: false,
      message: 'its last turns are not in the store',
    });
  });

  it('is given up with its attempt', async () => {
    const attempt = environment();
    const { activities } = setUp({
      restoreState: (_input, signal) => {
        attempt.cancel();
        return signal.aborted
          ? Promise.reject(new Error('given up'))
          : Promise.resolve({ version: 1, state: {}, events: [] });
      },
    });
    const restored = attempt.run(activities.restoreState, WANTED);
    await expect(restored).rejects.toThrow('given up');
  });

  it('is not retried when there is nothing to restore', async () => {
    const { activities } = setUp({
      restoreState: () => Promise.reject(new NotReopenable('c-1', 'its log is not in the store')),
    });
    await expect(environment().run(activities.restoreState, WANTED)).rejects.toMatchObject({
      type: 'conversation_closed',
      nonRetryable: true,
      message: 'Conversation "c-1" cannot be reopened: its log is not in the store',
    });
  });
});
