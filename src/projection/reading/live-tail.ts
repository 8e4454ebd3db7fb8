/**
 * The live events of one watcher, in order and without repeats: what came too late is left out, and what lacks something before it
 * waits for that. Bounded: a reader that would wait for long is shown the gap.
 */
import type { CanonicalEvent } from '../../protocol/log/events.js';
import type { LiveEvent } from '../../protocol/log/live-events.js';
import { LiveView } from '../../protocol/log/live-view.js';
import type { LiveMessage } from '../../store/ports/live.js';

/** About half a second of text: as many as come while what was streamed so far is on its way. */
const MAX_HELD = 16;

export class LiveTail {
  readonly #view = new LiveView();
  readonly #ask: () => void;
  #held: readonly LiveEvent[] = [];

  /** @param ask Told when something is missing: asks whoever streams to say again what it has streamed so far. */
  constructor(ask: () => void) {
    this.#ask = ask;
  }

  note(event: CanonicalEvent): void {
    this.#view.note(event);
  }

  /** What the watcher is shown of it. */
  take({ event }: Extract<LiveMessage, { type: 'live' | 'so_far' }>): readonly LiveEvent[] {
    const before = this.#held;
    const waiting: LiveEvent[] = [];
    // What fills a gap comes before what waits behind it.
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
