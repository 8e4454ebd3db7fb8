/** The log is in the store before a run ends, or the activity fails. */
import { describe, expect, it } from 'vitest';
import { environment, key, setUp } from '../tools/fixtures.js';

describe('flushing the log', () => {
  it('returns the last stored seq', async () => {
    const { activities } = setUp({
      flush: (throughSeq) => Promise.resolve({ storedSeq: throughSeq + 1 }),
    });
    const flushed = await environment().run(activities.flushLog, { ...key, throughSeq: 41 });
    expect(flushed).toEqual({ storedSeq: 42 });
  });

  it('is retried while the store is down', async () => {
    const { activities } = setUp();
    const running = environment().run(activities.flushLog, { ...key, throughSeq: 1 });
    await expect(running).rejects.toMatchObject({
      type: 'store_unavailable',
      nonRetryable: false,
      message: 'no store',
    });
  });
});
