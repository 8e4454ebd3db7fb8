/** Moves of the cursor over the events of a log. Pure. */
import type { CanonicalEvent } from 'colloquy/browser';

export type Move = 'first' | 'previousTurn' | 'previous' | 'next' | 'nextTurn' | 'last';

/** One turn, as the log has it: indexes of its first and last event. */
export interface LoggedTurn {
  readonly turnId: string;
  readonly from: number;
  readonly to: number;
  /** Absent while it runs. */
  readonly status?: 'completed' | 'failed' | 'cancelled';
}

/** The index after a move; it stays where there is nothing on that side. */
export function moved(events: readonly CanonicalEvent[], index: number, move: Move): number {
  const last = events.length - 1;
  const starts = events.flatMap(({ type }, at) => (type === 'turn_started' ? [at] : []));
  const wanted = {
    first: () => 0,
    previousTurn: () => starts.findLast((at) => at < index) ?? 0,
    previous: () => index - 1,
    next: () => index + 1,
    nextTurn: () => starts.find((at) => at > index) ?? last,
    last: () => last,
  }[move]();
  return Math.max(0, Math.min(last, wanted));
}

/** Index of the event with this seq, or of the last one before it; the last one for `undefined`. */
export function indexOf(events: readonly CanonicalEvent[], seq: number | undefined): number {
  if (seq === undefined) return events.length - 1;
  return events.findLastIndex((event) => event.seq <= seq);
}

/** The turns of a log, in its order. */
export function turnsIn(events: readonly CanonicalEvent[]): readonly LoggedTurn[] {
  const turns: LoggedTurn[] = [];
  for (const [index, event] of events.entries()) {
    if (event.type === 'turn_started') {
      const { turnId } = event;
      turns.push({ turnId, from: index, to: index });
      continue;
    }
    const at = turns.length - 1;
    const turn = turns[at];
    if (turn === undefined || turn.status !== undefined) continue;
    const isEnd = event.type === 'turn_ended' && event.turnId === turn.turnId;
    turns[at] = { ...turn, to: index, ...(isEnd ? { status: event.status } : {}) };
  }
  return turns;
}

/** The turn to which an event belongs: the one that runs there, or the last one before. */
export function turnAt(turns: readonly LoggedTurn[], index: number): LoggedTurn | undefined {
  return turns.findLast(({ from }) => from <= index) ?? turns[0];
}

/** The seq from which a turn can be tried again: the last place for a fork before its message. */
export function placeBefore(
  events: readonly CanonicalEvent[],
  turn: LoggedTurn,
  places: ReadonlySet<number>,
): number | undefined {
  const message = events.findIndex(
    (event) => event.type === 'user_message' && event.turnId === turn.turnId,
  );
  const end = message < 0 ? turn.from : message;
  return events.slice(0, end).findLast(({ seq }) => places.has(seq))?.seq;
}

/** The message with which a turn began; undefined for one that an event of another system began. */
export function messageOf(
  events: readonly CanonicalEvent[],
  { turnId }: LoggedTurn,
): { readonly text: string; readonly hasFiles: boolean } | undefined {
  const event = events.find((one) => one.type === 'user_message' && one.turnId === turnId);
  if (event?.type !== 'user_message') return undefined;
  const { parts } = event;
  const text = parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
  return { text, hasFiles: parts.some(({ type }) => type !== 'text') };
}
