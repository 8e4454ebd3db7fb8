import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { Outbox } from '../../../src/store/live/outbox.js';
import type { LiveMessage } from '../../../src/store/ports/live.js';
import { begun, delta } from '../../support/samples/live-messages.js';
import { KEY } from '../../support/samples/log-events.js';

const GROWN: LiveMessage = { type: 'appended', ...KEY, generation: 1, lastSeq: 7 };

type Sent = readonly [afterMs: number, line: string, message: LiveMessage];
type Written = readonly [atMs: number, ...lines: string[]];

/** The batches for other processes, one by one, with their times: milliseconds since the first message. */
function writesOf(messages: readonly Sent[]): readonly Written[] {
  const written: Written[] = [];
  const beganAt = performance.now();
  const outbox = new Outbox((texts) => written.push([performance.now() - beganAt, ...texts]));
  for (const [afterMs, text, message] of messages) {
    if (afterMs > 0) vi.advanceTimersByTime(afterMs);
    outbox.add(text, message);
  }
  vi.advanceTimersByTime(100);
  return written;
}

beforeEach(() => {
  vi.useFakeTimers({
    toFake: ['setTimeout', 'clearTimeout', 'setImmediate', 'clearImmediate', 'performance'],
  });
  onTestFinished(() => {
    vi.useRealTimers();
  });
});

const [A, B, C] = [delta('a'), delta('b'), delta('c')];
const BEGUN = begun('call-1');

describe('the messages for other processes', () => {
  it.each<[what: string, sent: readonly Sent[], written: readonly Written[]]>([
    [
      'goes out at once after a pause, and together what comes in one turn of the loop',
      [
        [0, 'a', A],
        [0, 'b', GROWN],
        [10, 'c', C],
      ],
      [
        [0, 'a', 'b'],
        [10, 'c'],
      ],
    ],
    [
      'is written again after ten milliseconds, with all that has come by then',
      [
        [0, 'a', A],
        [1, 'b', B],
        [5, 'c', C],
      ],
      [
        [0, 'a'],
        [10, 'b', 'c'],
      ],
    ],
    [
      'is written after four where the log has grown, which takes along what waits',
      [
        [0, 'a', A],
        [1, 'b', B],
        [0, 'c', GROWN],
      ],
      [
        [0, 'a'],
        [4, 'b', 'c'],
      ],
    ],
    [
      'is not delayed by a call that begins meanwhile',
      [
        [0, 'a', A],
        [1, 'b', GROWN],
        [1, 'c', BEGUN],
      ],
      [
        [0, 'a'],
        [4, 'b', 'c'],
      ],
    ],
    ['waits longest when a call began', [[0, 'a', BEGUN]], [[25, 'a']]],
    [
      'goes along with what follows when a call began',
      [
        [0, 'a', BEGUN],
        [3, 'b', B],
      ],
      [[3, 'a', 'b']],
    ],
  ])('%s', (_what, sent, written) => {
    expect(writesOf(sent)).toEqual(written);
  });

  it('are dropped from a megabyte on that has not gone out', () => {
    const long = 'x'.repeat(600_000);
    const sent = ['a', 'b', 'c'].map((id): Sent => [0, `${id}${long}`, A]);
    expect(writesOf([...sent, [20, 'd', A]])).toEqual([
      [0, `a${long}`, `b${long}`],
      [20, 'd'],
    ]);
  });
});
