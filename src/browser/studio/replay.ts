/**
 * The state of a conversation at any place of its log, folded in the page by the engine's own functions. Pure: the log
 * is never asked for anything.
 */
import { apply } from '../../core/apply/apply.js';
import { isCut } from '../../core/fork/cuts.js';
import { statesAfter } from '../../core/plugins/states.js';
import type { ConversationState } from '../../core/state/state.js';
import { wholeMessages } from '../../core/state/transcript.js';
import { foldView } from '../../core/view/view.js';
import type { PluginStates } from '../../protocol/calls/plugin-state.js';
import type { ConversationSnapshot } from '../../protocol/conversation/conversation.js';
import type { CanonicalEvent } from '../../protocol/log/events.js';
import type { LogPlace } from './types.js';

/** Places from which others are folded: every so many events, so that a jump folds few. */
const CHECKPOINT_EVENTS = 100;

interface Folded {
  readonly view?: ConversationSnapshot | undefined;
  /** Undefined before the first event, and behind one that this version cannot fold. */
  readonly state?: ConversationState | undefined;
  /** The same with the messages that are in the blob store. */
  readonly whole?: ConversationState | undefined;
  readonly plugins: PluginStates;
  readonly isPartial: boolean;
}

const NOTHING: Folded = { plugins: {}, isPartial: false };

/** How far the log has been looked through for places of forks, and those that were found: their seqs. */
interface Scan {
  readonly count: number;
  readonly folded: Folded;
  readonly places: ReadonlySet<number>;
}

const UNSEEN: Scan = { count: 0, folded: NOTHING, places: new Set() };

/** A log, and its places. A longer log of the same generation takes over what is folded: `with`. */
export class Replay {
  readonly events: readonly CanonicalEvent[];
  readonly #checkpoints: Folded[];
  #scan: Scan;

  constructor(events: readonly CanonicalEvent[] = [], before?: Replay) {
    this.events = events;
    this.#checkpoints = before === undefined ? [NOTHING] : [...before.#checkpoints];
    this.#scan = before === undefined ? UNSEEN : before.#scan;
  }

  /** The same log with further events behind it. */
  with(later: readonly CanonicalEvent[]): Replay {
    return later.length === 0 ? this : new Replay([...this.events, ...later], this);
  }

  /** The conversation right behind the event with this index; -1: before the first. */
  at(index: number): LogPlace {
    const place = Math.min(index, this.events.length - 1);
    return placeOf(this.#foldedAt(place), this.events[place]);
  }

  /** Seqs of the events behind which a fork can begin. Folds each event once, also of a log that grows. */
  forkPlaces(): ReadonlySet<number> {
    const { count, places } = this.#scan;
    if (count === this.events.length) return places;
    const found = new Set(places);
    let { folded } = this.#scan;
    for (const event of this.events.slice(count)) {
      folded = next(folded, event);
      if (canFork(folded, event)) found.add(event.seq);
    }
    this.#scan = { count: this.events.length, folded, places: found };
    return found;
  }

  #foldedAt(index: number): Folded {
    const count = index + 1;
    const wanted = Math.floor(count / CHECKPOINT_EVENTS);
    for (let known = this.#checkpoints.length; known <= wanted; known += 1) {
      const from = (known - 1) * CHECKPOINT_EVENTS;
      const folded = this.#through(
        this.#checkpoints[known - 1] ?? NOTHING,
        from,
        from + CHECKPOINT_EVENTS,
      );
      this.#checkpoints.push(folded);
    }
    return this.#through(this.#checkpoints[wanted] ?? NOTHING, wanted * CHECKPOINT_EVENTS, count);
  }

  #through(from: Folded, first: number, end: number): Folded {
    let folded = from;
    for (const event of this.events.slice(first, end)) folded = next(folded, event);
    return folded;
  }
}

function next(before: Folded, event: CanonicalEvent): Folded {
  const { view, plugins } = before;
  if (event.type === 'log_rewritten') return before;
  const isPartial = before.isPartial || event.type === 'events_lost';
  const patched = event.type === 'state_patch' && event.refused === undefined;
  return {
    view: foldView(view, event),
    ...statesOf(before, event),
    plugins: patched ? (statesAfter(plugins, [event]) ?? plugins) : plugins,
    isPartial,
  };
}

/** A later version may have written events that this one does not know; what is folded without them would be wrong. */
function statesOf(
  { state, whole, isPartial }: Folded,
  event: CanonicalEvent,
): Pick<Folded, 'state' | 'whole'> {
  try {
    if (isPartial && state === undefined) return {};
    const then = apply(state, event);
    if (event.type === 'transcript_offloaded') return { state: then, whole };
    return { state: then, whole: whole === state ? then : apply(whole, event) };
  } catch {
    return {};
  }
}

function canFork({ state, isPartial }: Folded, event: CanonicalEvent): boolean {
  return state !== undefined && !isPartial && event.type !== 'log_rewritten' && isCut(state, event);
}

function placeOf(folded: Folded, event: CanonicalEvent | undefined): LogPlace {
  const { view, state, whole, plugins, isPartial } = folded;
  return {
    ...(event === undefined ? {} : { event }),
    ...(view === undefined ? {} : { snapshot: view }),
    messages: wholeMessages(whole?.transcript ?? []),
    forgotten: state?.forgotten ?? 0,
    ...(state === undefined ? {} : { settings: state.settings }),
    ...(state?.turn === undefined ? {} : { turn: turnOf(state.turn) }),
    unread: state?.inbox?.length ?? 0,
    plugins,
    isWhole: state !== undefined && !isPartial,
    canFork: event !== undefined && canFork(folded, event),
  };
}

function turnOf(turn: NonNullable<ConversationState['turn']>): NonNullable<LogPlace['turn']> {
  const { turnId, step, usage, startedAt, spent, cancel, stop } = turn;
  const isStopping = cancel !== undefined || stop !== undefined;
  const calls = spent === undefined ? {} : { calls: spent.byTool };
  return { turnId, step, usage, startedAt, ...calls, isStopping };
}
