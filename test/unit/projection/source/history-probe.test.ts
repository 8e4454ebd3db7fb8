/** Log lines about reads of the ends of histories, and for how long a server is not asked again. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { HistoryProbe } from '../../../../src/projection/source/history-probe.js';
import { completed, fakeHistory, type Look, timer } from '../../../support/fakes/fake-history.js';
import { promise } from '../../../support/promise.js';

const RUN = { workflowId: 'conversation:default:c1', runId: 'run-a' };
const FOUND: Look = [[timer(8), completed(7)]];
const refused = (code: number, message: string): Error =>
  Object.assign(new Error(message), { code });
const DENIED = refused(7, 'Request unauthorized.');
const UNKNOWN = refused(12, 'unknown method');

function setUp(...answers: readonly Look[]) {
  const { client, asked } = fakeHistory(...answers);
  const lines: unknown[] = [];
  const note =
    (level: string) =>
    (message: string, fields: Record<string, unknown> = {}) => {
      lines.push([level, message.split(';')[0], fields['reason']]);
    };
  const probe = new HistoryProbe(client, { info: note('info'), warn: note('warn') });
  const look = async (times = 1): Promise<void> => {
    for (let looked = 1; looked <= times; looked += 1)
      try {
        for await (const events of probe.tail(RUN)) if (events.length > 0) break;
      } catch {
        // The test reads the log lines.
      }
  };
  return { probe, look, lines, asked };
}

afterEach(() => {
  vi.useRealTimers();
});

describe('reads of the ends of histories', () => {
  it('that are denied are logged once, with the reason, and again when they work', {
    ...promise('G205'),
  }, async () => {
    const { probe, look, lines } = setUp(DENIED, DENIED, DENIED, FOUND);
    await look(3);
    const failing = 'The ends of histories cannot be read on the server';
    expect(lines).toEqual([['warn', failing, 'Request unauthorized.']]);
    expect(probe.isUseless).toBe(false);
    await look(2);
    expect(lines.slice(1)).toEqual([
      ['info', 'The ends of histories can be read again', undefined],
    ]);
  });

  it('are given up, with a log line, only when the call is unknown three times in a row', {
    ...promise('G205'),
  }, async () => {
    const { probe, look, lines } = setUp(UNKNOWN, UNKNOWN, DENIED, UNKNOWN, UNKNOWN, UNKNOWN);
    await look(5);
    expect(probe.isUseless).toBe(false);
    await look();
    expect(probe.isUseless).toBe(true);
    const given = 'The server does not know GetWorkflowExecutionHistoryReverse';
    expect(lines.at(-1)).toEqual(['warn', given, 'unknown method']);
  });

  it('are never given up once one was answered', async () => {
    const { probe, look, lines } = setUp(FOUND, UNKNOWN);
    await look(6);
    expect(probe.isUseless).toBe(false);
    expect(lines).toMatchObject([
      ['warn', expect.stringMatching(/cannot be read/), UNKNOWN.message],
    ]);
  });

  it('are tried again a minute after they were given up, and stay on if that one is answered', {
    ...promise('G205'),
  }, async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const { probe, look, lines } = setUp(UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, FOUND);
    await look(3);
    vi.setSystemTime(Date.now() + 60_000);
    expect(probe.isUseless).toBe(false);
    await look();
    expect(probe.isUseless).toBe(true);
    vi.setSystemTime(Date.now() + 60_000);
    await look();
    expect(probe.isUseless).toBe(false);
    expect(lines.map((line) => (line as string[])[0])).toEqual(['warn', 'info']);
  });

  it('of a run that the server does not have are answered', async () => {
    const { look, lines } = setUp(DENIED, refused(5, 'workflow not found'));
    await look(2);
    expect(lines).toHaveLength(2);
    await look(2);
    expect(lines).toHaveLength(2);
  });
});
