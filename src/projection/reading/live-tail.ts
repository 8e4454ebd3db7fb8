/**
 * Orders the live events of one watcher, without repeats: an event that arrives too late is left out, and one after a
 * gap waits for the missing events. Bounded: a watcher that would wait for long gets the events after the gap.
 */
import type { CanonicalEvent } from '../../protocol/log/events.js';
import type { LiveEvent } from '../../protocol/log/live-events.js';
import { LiveView } from '../../protocol/log/live-view.js';
import type { LiveMessage } from '../../store/ports/live.js';

/** About half a second of text: as many events as arrive while the repeated content is on its way. */
const MAX_HELD = 16;

export class LiveTail {
  readonly #view = new LiveView();
  readonly #ask: () => void;
  #held: readonly LiveEvent[] = [];

  /** @param ask Called when events are missing: asks the publisher to repeat the content streamed so far. */
  constructor(ask: () => void) {
    this.#ask = ask;
  }

  note(event: CanonicalEvent): void {
    this.#view.note(event);
  }

  /** The events to pass to the watcher after this message. */
  take({ event }: Extract<LiveMessage, { type: 'live' | 'so_far' }>): readonly LiveEvent[] {
    const before = this.#held;
    const waiting: LiveEvent[] = [];
    // An event that fills a gap comes before those that wait behind it.
    const [first, second] =
      this.#view.missingBefore(event) > 0 ? [before, [event]] : [[event], before];
    const news = [...first, ...second].flatMap((next) => {
      if (this.#view.missingBefore(next) === 0) return this.#newsOf(next);
      waiting.push(next);
      return [];
    });
    if (waiting.length > 0 && before.length === 0) this.#ask();
    this.#held = waiting.length > MAX_HELD ? [] : waiting;
    return waiting.length > MAX_HELD
      ? [...news, ...waiting.flatMap((next) => this.#newsOf(next))]
      : news;
  }

  #newsOf(event: LiveEvent): readonly LiveEvent[] {
    const news = this.#view.take(event);
    return news === undefined ? [] : [news];
  }
}
