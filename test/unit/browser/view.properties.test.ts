/** The view of a page, however its events reach it: in pages, by the stream, twice, over lost connections. */
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ViewModel } from '../../../src/browser/view/model.js';
import type { CallView, ConversationView } from '../../../src/browser/view/types.js';
import { foldView } from '../../../src/core/view/view.js';
import type { ConversationSnapshot } from '../../../src/protocol/conversation/conversation.js';
import { type CanonicalEvent, turnIdOf } from '../../../src/protocol/log/events.js';
import { promise } from '../../support/promise.js';
import { ScheduleRunner, schedule } from '../../support/schedules/core-schedules.js';

const RUNS = 150;

const log = fc.tuple(fc.nat(9), schedule).map(([variant, steps]) => {
  const runner = new ScheduleRunner(variant);
  for (const step of steps) runner.run(step);
  return runner.m.events;
});
/** Places in a log, as parts of its length. */
const place = fc.noBias(fc.nat(1_000));
/** How many events come at once, and again after a lost connection. */
const pace = fc.noBias(fc.nat(8));

function at(events: readonly CanonicalEvent[], part: number): number {
  return Math.floor((part * events.length) / 1_000);
}

function framesOf(events: readonly CanonicalEvent[]) {
  return events.map((event) => ({ cursor: { generation: 1, seq: event.seq }, event }));
}

function snapshotOf(events: readonly CanonicalEvent[]): ConversationSnapshot {
  let view: ConversationSnapshot | undefined;
  for (const event of events) view = foldView(view, event);
  if (view === undefined) throw new Error('no conversation');
  return view;
}

/** The parts of the view that the log decides. */
function shown({ connection: _state, ...view }: ConversationView): unknown {
  return view;
}

/** Calls in the background may run while no turn does. */
function isUnderWay({ state, detached }: CallView): boolean {
  return detached === undefined && ['running', 'queued', 'writing'].includes(state);
}

function streamed(events: readonly CanonicalEvent[]): ViewModel {
  const model = new ViewModel('c', { id: 'ann', roles: ['lead'] });
  model.takeEvents(framesOf(events));
  return model;
}

describe('the view of a conversation', () => {
  it(
    'is the same for every split into snapshot, older pages, tail and stream (property)',
    promise('G354'),
    () => {
      fc.assert(
        fc.property(log, place, place, place, pace, (events, first, second, third, again) => {
          const [low = 0, high = 0, read = 0] = [
            at(events, first),
            at(events, second),
            at(events, third),
          ].sort((left, right) => left - right);
          // A page has an event at least.
          const older = Math.min(low, events.length - 1);
          const page = Math.max(high, older + 1);
          const model = new ViewModel('c', { id: 'ann', roles: ['lead'] });
          // The snapshot may be older or newer than the page.
          model.open({
            snapshot: snapshotOf(events.slice(0, Math.max(1, page, again % 2 === 0 ? read : 1))),
            events: events.slice(older, page),
            generation: 1,
            more: older > 0,
          });
          for (let from = page; from < events.length; from += 1 + again) {
            // A connection that was lost may repeat events.
            const repeated = Math.max(older, from - again);
            expect(model.takeEvents(framesOf(events.slice(repeated, from + 1 + again)))).toBe(true);
          }
          model.addOlder(events.slice(Math.floor(older / 2), older), older > 1);
          model.addOlder(events.slice(0, Math.floor(older / 2)), false);
          expect(shown(model.view)).toEqual(shown(streamed(events).view));
        }),
        { numRuns: RUNS },
      );
    },
  );

  it('has every message of the log once, and the calls that wait as the snapshot has them (property)', () => {
    fc.assert(
      fc.property(log, (events) => {
        const { view } = streamed(events);
        const keys = view.messages.map(({ key }) => key);
        expect(new Set(keys).size).toBe(keys.length);
        const texts = events.flatMap((event) =>
          event.type === 'user_message' ? [event.messageId] : [],
        );
        expect(view.messages.filter(({ role }) => role === 'user')).toHaveLength(texts.length);
        const { pending, status } = snapshotOf(events);
        expect(view.status).toBe(status);
        expect(view.pending.map(({ toolCallId }) => toolCallId)).toEqual(
          pending.map(({ toolCallId }) => toolCallId),
        );
        const calls = view.messages.flatMap((message) =>
          message.role === 'assistant' ? message.calls : [],
        );
        const ids = events.flatMap((event) =>
          event.type === 'tool_call' ? [event.call.toolCallId] : [],
        );
        expect(calls.map(({ toolCallId }) => toolCallId).sort()).toEqual([...new Set(ids)].sort());
        const waiting = calls.filter((call) => call.pending !== undefined);
        expect(waiting).toHaveLength(pending.length);
        if (view.status === 'idle' || view.status === 'closed')
          expect(calls.filter(isUnderWay)).toEqual([]);
      }),
      { numRuns: RUNS },
    );
  });

  it('never changes what it has given out, and keeps the messages that an event does not concern (property)', () => {
    fc.assert(
      fc.property(log, (events) => {
        const model = new ViewModel('c', undefined);
        const given: { view: ConversationView; copy: unknown }[] = [];
        for (const event of events) {
          const before = new Map(model.view.messages.map((message) => [message.key, message]));
          model.takeEvents(framesOf([event]));
          const { view } = model;
          expect(model.view).toBe(view);
          given.push({ view, copy: structuredClone(view) });
          for (const message of view.messages) {
            const old = before.get(message.key);
            const isConcerned = message.role === 'assistant' && message.turnId === turnIdOf(event);
            if (!isConcerned && isDeepStrictEqual(old, message)) expect(message).toBe(old);
          }
        }
        for (const { view, copy } of given) expect(view).toEqual(copy);
      }),
      { numRuns: 50 },
    );
  });
});
