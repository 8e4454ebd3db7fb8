import { describe, expect, it } from 'vitest';
import { missingWorkerText } from '../../../src/client/workers.js';
import { fakeTemporal } from '../../support/fake-temporal.js';

const seenAt = (milliseconds: number): object => ({
  lastAccessTime: { seconds: Math.floor(milliseconds / 1000), nanos: 0 },
});

describe('what is said when nobody answered', () => {
  it('names the queue, when a worker was last seen there, and the next command', async () => {
    const long = Date.parse('2026-01-01T10:00:00.000Z');
    const { client } = fakeTemporal({}, [seenAt(long - 5_000), seenAt(long)]);
    expect(await missingWorkerText(client, 'colloquy')).toBe(
      'No worker polls task queue "colloquy" (last seen: 2026-01-01T10:00:00.000Z). Start one: npx colloquy worker --agents <module>',
    );
  });

  it('says "never" of a queue that nobody ever polled', async () => {
    const { client } = fakeTemporal({});
    expect(await missingWorkerText(client, 'q')).toBe(
      'No worker polls task queue "q" (last seen: never). Start one: npx colloquy worker --agents <module>',
    );
  });

  it('does not claim that there is no worker when one was seen a moment ago', async () => {
    const { client } = fakeTemporal({}, [seenAt(Date.now() - 2_000)]);
    const text = await missingWorkerText(client, 'q');
    expect(text).toContain('No worker answered on task queue "q" in time (last seen: ');
    expect(text).not.toContain('Start one');
  });
});
