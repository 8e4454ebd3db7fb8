import { describe, expect, it } from 'vitest';
import { missingWorkerText } from '../../../../src/client/workers/worker-hint.js';
import { fakeTemporal, noAnswer, refusal } from '../../../support/fakes/fake-temporal.js';
import { setUp } from '../../../support/fakes/scripted-client.js';
import { promise } from '../../../support/promise.js';

const seenAt = (milliseconds: number): object => ({
  lastAccessTime: { seconds: Math.floor(milliseconds / 1000), nanos: 0 },
});

describe('the hint after a call without an answer', () => {
  it('names the queue, when a worker was last seen there, and the next command', async () => {
    const long = Date.parse('2026-01-01T10:00:00.000Z');
    const { client } = fakeTemporal({}, [seenAt(long - 5_000), seenAt(long)]);
    expect(await missingWorkerText(client, 'colloquy')).toBe(
      'No worker polls task queue "colloquy" (last seen: 2026-01-01T10:00:00.000Z). Start one: npx colloquy worker --agents <module>',
    );
  });

  it('does not say "never" for a queue without pollers: a restarted server has seen none yet', {
    ...promise('G3'),
  }, async () => {
    const { client } = fakeTemporal({});
    expect(await missingWorkerText(client, 'q')).toBe(
      'No worker polls task queue "q" (the server has seen none lately). Start one: npx colloquy worker --agents <module> - unless Temporal was just restarted: running workers are back within about 10 s',
    );
  });

  it('says when a worker last answered this process, where a restarted server does not know', async () => {
    const { client } = fakeTemporal({});
    const answeredAt = Date.parse('2026-01-01T10:00:00.000Z');
    expect(await missingWorkerText(client, 'q', { answeredAt })).toBe(
      'No worker polls task queue "q" at the moment (one answered at 2026-01-01T10:00:00.000Z). After a restart of Temporal running workers are back within about 10 s; if none runs: npx colloquy worker --agents <module>',
    );
  });

  it('does not claim that there is no worker when one was seen a moment ago', async () => {
    const { client } = fakeTemporal({}, [seenAt(Date.now() - 2_000)]);
    const text = await missingWorkerText(client, 'q');
    expect(text).toContain('No worker answered on task queue "q" in time (last seen: ');
    expect(text).not.toContain('Start one');
  });

  it.each([
    ['a message was taken', () => ({ turnId: 't_1', messageId: 'm_1', seq: 2, ahead: 0 })],
    [
      'a message was refused',
      () => {
        throw refusal('busy', { message: 'A turn is running' });
      },
    ],
  ])(
    'says when a worker last answered here, once %s: a restarted server has seen none',
    promise('G3'),
    async (_what, answer) => {
      let alive = true;
      const { conversation } = setUp({
        updateWithStart: () => {
          if (alive) return answer();
          throw noAnswer();
        },
        update: () => {
          throw noAnswer();
        },
        signalWithStart: () => undefined,
        describe: () => ({ status: { name: 'RUNNING' }, runId: 'run-1' }),
      });
      await conversation.send('Hello').catch(() => undefined);
      alive = false;
      const sent = await conversation.send('Are you there?');
      if (sent.status !== 'queued') throw new Error('no worker was there to admit it');
      expect(sent.warning).toMatch(
        /^No worker polls task queue "colloquy" at the moment \(one answered at 2\d{3}-.*Z\)\. After a restart of Temporal/,
      );
      expect(sent.warning).not.toContain('never');
    },
  );
});
