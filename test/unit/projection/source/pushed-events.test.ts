import { describe, expect, it } from 'vitest';
import { PushedEvents } from '../../../../src/projection/source/pushed-events.js';
import type { CanonicalEvent } from '../../../../src/protocol/log/events.js';
import type { Hint } from '../../../../src/protocol/workflow/messaging.js';
import { KEY, stamped, started, turn } from '../../../support/samples/log-events.js';

const RUN = 'run-a';
const STARTED_AT = 1_700_000_000_000;
const LOG = stamped([started(), ...turn('t1'), ...turn('t2')]);

function hint(
  events: readonly CanonicalEvent[],
  more: { task?: number; liveFrom?: number } = {},
): Hint {
  const { task = 3, liveFrom = 1 } = more;
  const seq = events.at(-1)?.seq ?? 0;
  return {
    ...KEY,
    runId: RUN,
    seq,
    urgency: 'later',
    pushed: { task, startedAt: STARTED_AT, liveFrom, events },
  };
}

function seqsOf(pushed: PushedEvents, after: number, upTo: number, runId = RUN) {
  return pushed.page(KEY, { runId, after, upTo })?.page.events.map(({ seq }) => seq);
}

describe('events that tasks pushed', () => {
  it('are joined over hints, and reported by the newest task', () => {
    const pushed = new PushedEvents();
    pushed.take(hint(LOG.slice(0, 2), { task: 3 }));
    pushed.take(hint(LOG.slice(2, 5), { task: 9 }));
    expect(pushed.page(KEY, { runId: RUN, after: 0, upTo: 5 })).toEqual({
      page: { events: LOG.slice(0, 5), firstSeq: 1, lastSeq: 5, more: false },
      task: { id: 9, startedAt: STARTED_AT },
      pushedAt: expect.any(Number) as number,
    });
  });

  it('are pushed again by a task that is tried again, and the later push counts', () => {
    const pushed = new PushedEvents();
    pushed.take(hint(LOG.slice(0, 5)));
    const others = LOG.slice(2, 4).map((event) => ({ ...event, at: '2031-01-01T00:00:00.000Z' }));
    pushed.take(hint(others));
    expect(pushed.page(KEY, { runId: RUN, after: 0, upTo: 4 })?.page.events).toEqual([
      ...LOG.slice(0, 2),
      ...others,
    ]);
  });

  it('are not used from an instance that only replayed them', () => {
    const pushed = new PushedEvents();
    pushed.take(hint(LOG.slice(0, 3)));
    pushed.take(hint(LOG.slice(3, 5), { task: 12, liveFrom: 4 }));
    expect(seqsOf(pushed, 0, 5)).toBeUndefined();
    expect(seqsOf(pushed, 3, 5)).toEqual([4, 5]);
  });

  it.each([
    ['of another run', 0, 3, 'run-b'],
    ['that begin later than what is asked for', 0, 5, RUN],
    ['that do not go as far', 3, 9, RUN],
  ])('do not answer for events %s', (_what, after, upTo, runId) => {
    const pushed = new PushedEvents();
    pushed.take(hint(LOG.slice(3, 5)));
    expect(seqsOf(pushed, after, upTo, runId)).toBeUndefined();
  });

  it('are forgotten when a hint comes without them, or after a gap', () => {
    const pushed = new PushedEvents();
    pushed.take(hint(LOG.slice(0, 2)));
    pushed.take(hint(LOG.slice(4, 5)));
    expect(seqsOf(pushed, 0, 5)).toBeUndefined();
    expect(seqsOf(pushed, 4, 5)).toEqual([5]);
    const { pushed: _, ...bare } = hint(LOG.slice(5, 6));
    pushed.take(bare);
    expect(seqsOf(pushed, 4, 5)).toBeUndefined();
  });

  it('keep their bounds', () => {
    const pushed = new PushedEvents();
    const [first] = LOG;
    if (first === undefined) throw new Error('an empty log');
    pushed.take(hint(Array.from({ length: 501 }, (_, index) => ({ ...first, seq: index + 1 }))));
    expect(seqsOf(pushed, 0, 1)).toBeUndefined();
    pushed.take(hint(LOG.slice(0, 1)));
    for (let index = 0; index < 2_000; index += 1)
      pushed.take({ ...hint(LOG.slice(0, 1)), conversationId: `c-${index}` });
    expect(seqsOf(pushed, 0, 1)).toBeUndefined();
  });
});

describe('events that a replay pushed', () => {
  const replayed = (events: readonly CanonicalEvent[], task: number): Hint => ({
    ...hint(events, { task }),
    doubt: true,
  });

  it('are joined over the replayed tasks, and reported by the newest one', () => {
    const pushed = new PushedEvents();
    pushed.take(replayed(LOG.slice(0, 2), 3));
    pushed.take(replayed(LOG.slice(2, 5), 9));
    expect(pushed.page(KEY, { runId: RUN, after: 1, upTo: 5 })).toEqual({
      page: { events: LOG.slice(1, 5), firstSeq: 1, lastSeq: 5, more: false },
      task: { id: 9, startedAt: STARTED_AT },
      pushedAt: expect.any(Number) as number,
      replayed: true,
    });
  });

  it('come first, and those of later tasks behind them, each with its own task', () => {
    const pushed = new PushedEvents();
    pushed.take(replayed(LOG.slice(0, 3), 9));
    pushed.take(hint(LOG.slice(3, 5), { task: 12, liveFrom: 4 }));
    const first = pushed.page(KEY, { runId: RUN, after: 1, upTo: 5 });
    expect(first).toMatchObject({ page: { lastSeq: 3, more: true }, task: { id: 9 } });
    const second = pushed.page(KEY, { runId: RUN, after: 3, upTo: 5 });
    expect(second).toMatchObject({ page: { firstSeq: 4, lastSeq: 5, more: false } });
    expect(second?.replayed).toBeUndefined();
  });

  it.each([
    ['after a gap', LOG.slice(4, 5), 12],
    ['that do not go far enough', LOG.slice(3, 4), 12],
  ])('do not answer together with later ones %s', (_what, events, task) => {
    const pushed = new PushedEvents();
    pushed.take(replayed(LOG.slice(0, 3), 9));
    pushed.take(hint(events, { task, liveFrom: 4 }));
    expect(seqsOf(pushed, 1, 5)).toBeUndefined();
  });

  it('stay when an input was refused, and no others come with its hint', () => {
    const pushed = new PushedEvents();
    pushed.take(replayed(LOG.slice(0, 3), 9));
    const { pushed: _, ...bare } = replayed(LOG.slice(0, 3), 9);
    pushed.take(bare);
    expect(seqsOf(pushed, 1, 3)).toEqual([2, 3]);
  });

  it('are kept as far as a lost worker may not have stored them', () => {
    const pushed = new PushedEvents();
    const [first] = LOG;
    if (first === undefined) throw new Error('an empty log');
    const long = Array.from({ length: 300 }, (_, index) => ({ ...first, seq: index + 1 }));
    pushed.take(replayed(long, 9));
    expect(seqsOf(pushed, 100, 300)).toBeUndefined();
    expect(seqsOf(pushed, 200, 300)).toHaveLength(100);
  });
});
