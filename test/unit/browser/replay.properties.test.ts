/** The state of a conversation at any place of its log, as a page folds it: the engine's own, in any order of visits. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Replay } from '../../../src/browser/studio/replay.js';
import { applyAll } from '../../../src/core/apply/apply.js';
import { forkPointOf } from '../../../src/core/fork/point.js';
import { wholeMessages } from '../../../src/core/state/transcript.js';
import { foldView } from '../../../src/core/view/view.js';
import type { ConversationSnapshot } from '../../../src/protocol/conversation/conversation.js';
import type { CanonicalEvent } from '../../../src/protocol/log/events.js';
import { patient } from '../../support/patience.js';
import { promise } from '../../support/promise.js';
import { sampleLog } from '../../support/samples/sample-log.js';
import { ScheduleRunner, schedule } from '../../support/schedules/core-schedules.js';

const RUNS = 100;

const log = fc.tuple(fc.nat(9), schedule).map(([variant, steps]) => {
  const runner = new ScheduleRunner(variant);
  for (const step of steps) runner.run(step);
  return runner.m.events;
});

function snapshotOf(events: readonly CanonicalEvent[]): ConversationSnapshot | undefined {
  let view: ConversationSnapshot | undefined;
  for (const event of events) view = foldView(view, event);
  return view;
}

async function* read(events: readonly CanonicalEvent[]): AsyncGenerator<CanonicalEvent> {
  yield* events;
}

/** The log several times over, so that places are far from its beginning. */
function long(length: number): readonly CanonicalEvent[] {
  const [started] = sampleLog('c-1');
  if (started === undefined) throw new Error('no log');
  const note = (seq: number): CanonicalEvent => ({
    ...{ type: 'inbox_event', eventId: `e-${seq}`, kind: 'paid', payload: seq, seq },
    ...{ actor: { id: 'ann', verified: true, channel: 'api' }, at: started.at },
  });
  return [started, ...Array.from({ length }, (_, index) => note(index + 2))];
}

test('each place of a log has the state, waiting calls, rules and messages that the engine had there', {
  ...promise('G394'),
  timeout: patient(60_000),
}, () => {
  fc.assert(
    fc.property(
      log,
      fc.array(fc.nat(1_000), { maxLength: 8 }),
      fc.nat(1_000),
      (events, visits, cut) => {
        const split = Math.floor((cut * events.length) / 1_000);
        const early = new Replay(events.slice(0, split));
        early.at(split - 1);
        const replay = early.with(events.slice(split));
        for (const visit of visits) {
          const index = Math.floor((visit * events.length) / 1_001);
          const before = events.slice(0, index + 1);
          const place = replay.at(index);
          expect(place.snapshot).toEqual(snapshotOf(before));
          const state = applyAll(before);
          const isOffloaded = before.some(({ type }) => type === 'transcript_offloaded');
          if (!isOffloaded) expect(place.messages).toEqual(wholeMessages(state?.transcript ?? []));
          expect(place.settings).toEqual(state?.settings);
          expect(place.turn?.turnId).toBe(state?.turn?.turnId);
          expect(place.unread).toBe(state?.inbox?.length ?? 0);
          expect(place.isWhole).toBe(true);
        }
      },
    ),
    { numRuns: RUNS },
  );
});

test(
  'a place of a long log is the same from the front, from behind, and after more events',
  promise('G394'),
  () => {
    const events = long(450);
    const forward = new Replay(events);
    const backward = new Replay(events.slice(0, 250)).with(events.slice(250));
    const places = [0, 1, 99, 100, 101, 199, 250, 399, 450];
    const seen = places.toReversed().map((index) => backward.at(index));
    expect(seen.toReversed()).toEqual(places.map((index) => forward.at(index)));
    expect(forward.at(300).unread).toBe(300);
    expect(forward.at(9_999)).toEqual(forward.at(450));
    expect(forward.at(-1)).toMatchObject({ messages: [], isWhole: false, canFork: false });
  },
);

test(
  'an event of a later version, and events that were lost, are said, and nothing is guessed behind them',
  promise('G394'),
  () => {
    const [started, ...rest] = sampleLog('c-1');
    const odd = { type: 'from_the_future', seq: 4, at: '2026-01-01T00:00:01.000Z' };
    const replay = new Replay([
      started,
      rest[0],
      rest[1],
      odd,
      ...rest.slice(2),
    ] as CanonicalEvent[]);
    expect(replay.at(2).isWhole).toBe(true);
    expect(replay.at(3)).toMatchObject({ isWhole: false, canFork: false, messages: [] });
    const lost = { type: 'events_lost', from: 4, through: 4, seq: 4, at: odd.at };
    const gap = new Replay([started, rest[0], rest[1], lost, ...rest.slice(3)] as CanonicalEvent[]);
    expect(gap.at(4).isWhole).toBe(false);
    expect(gap.forkPlaces().size).toBe(0);
  },
);

test('the places at which a page offers a fork are those that the API takes (property)', {
  ...promise('G395'),
  timeout: patient(120_000),
}, async () => {
  await fc.assert(
    fc.asyncProperty(log, async (events) => {
      const replay = new Replay(events);
      const offered = replay.forkPlaces();
      for (const [index, { seq }] of events.entries()) {
        const found = await forkPointOf(read(events), { generation: 1, atSeq: seq, reopen: [] });
        const isTaken = found !== undefined && !('problems' in found);
        expect([seq, offered.has(seq), replay.at(index).canFork]).toEqual([seq, isTaken, isTaken]);
      }
    }),
    { numRuns: 30 },
  );
});
