/** The stream of one turn: its events out of the stream of its conversation, at the same places. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type CanonicalEvent, MAY_END_TURNS, turnIdOf } from '../../protocol/log/events.js';
import type { LogCursor } from '../../protocol/values/cursor.js';
import type { ConversationKey, TurnId } from '../../protocol/values/ids.js';
import type { TurnFrame } from '../api/types.js';
import type { ConversationReader } from '../ports/reader.js';

export interface TurnKey {
  readonly key: ConversationKey;
  readonly turnId: TurnId;
}

export type TurnPlace =
  /** The first event that the caller does not have comes after this place. */
  | { readonly status: 'begun'; readonly after: LogCursor }
  /** The caller has all events of the turn. */
  | { readonly status: 'over' }
  /** No event of the turn is stored: one that begins now comes after `tail`, if anything is stored at all. */
  | { readonly status: 'unknown'; readonly tail?: LogCursor | undefined };

/** Milliseconds in which the store has a turn of a log that was rewritten just now, or of a message just admitted. */
const SETTLED_MS = 2_000;
/** Milliseconds between reads for a turn that is not stored yet. */
const POLL_MS = 100;

/**
 * The place from which a caller follows a turn, who has its events up to `after`. A place of an older generation stays:
 * the event that says so follows it.
 */
export async function placeInTurn(
  reader: ConversationReader,
  { key, turnId }: TurnKey,
  after?: LogCursor,
): Promise<TurnPlace> {
  // Read before the turn, so that a turn without an event begins behind it.
  const page = await reader.events(key, { before: 'end', limit: 1 });
  const [first] = page === undefined ? [] : await reader.turnEvents(key, turnId);
  if (page === undefined || first === undefined) return { status: 'unknown', tail: page?.tail };
  const begin = { generation: page.generation, seq: first.seq - 1 };
  if (after === undefined) return { status: 'begun', after: begin };
  if (after.generation !== begin.generation) return { status: 'begun', after };
  if (after.seq <= begin.seq) return { status: 'begun', after: begin };
  const end = await endOf(reader, { key, turnId });
  return typeof end === 'number' && end <= after.seq
    ? { status: 'over' }
    : { status: 'begun', after };
}

/**
 * Yields the events of the turn from a place on, without gap or repeat, with its live events between, up to the event
 * that ends it. `log_rewritten` comes as well; behind it the turn begins anew, or the frames end where the new log does
 * not have it. A turn that was admitted and is never stored ends with the event that ended its run. Ends with the
 * signal too, and where the conversation is deleted.
 */
export async function* watchTurn(
  reader: ConversationReader,
  turn: TurnKey,
  options: { readonly from: TurnPlace; readonly signal: AbortSignal },
): AsyncGenerator<TurnFrame, void, undefined> {
  const { from, signal } = options;
  if (from.status === 'over') return;
  const after = from.status === 'begun' ? from.after : from.tail;
  const given = after === undefined ? { signal } : { after, signal };
  let hasBegun = from.status === 'begun';
  for await (const frame of reader.watch(turn.key, given)) {
    if (frame.type === 'nested') continue;
    if (frame.type === 'live') {
      if (frame.event.turnId === turn.turnId) yield frame;
      continue;
    }
    const { event, cursor } = frame;
    const isOfTurn = turnIdOf(event) === turn.turnId;
    if (isOfTurn) {
      hasBegun = true;
      yield frame;
      if (event.type === 'turn_ended') return;
    } else if (event.type === 'log_rewritten') {
      hasBegun = false;
      yield frame;
      if ((await settledEndOf(reader, turn, signal)) === 'unknown') return;
    } else if (mayEndTurns(event)) {
      const end = await (hasBegun ? endOf(reader, turn) : settledEndOf(reader, turn, signal));
      // A turn that has begun and is unknown is in another generation, whose frames follow.
      const isOver = typeof end === 'number' ? end <= cursor.seq : end === 'unknown' && !hasBegun;
      if (!isOver) continue;
      yield frame;
      return;
    }
  }
}

/** Once for each gap: its first mark ends the turns that are open before it. The first event of a log ends none. */
function mayEndTurns(event: CanonicalEvent): boolean {
  if (event.type === 'events_lost') return event.seq === event.from;
  return MAY_END_TURNS.includes(event.type) && event.seq > 1;
}

/** The same as `endOf`, after a wait for a turn that is not stored yet. */
async function settledEndOf(
  reader: ConversationReader,
  turn: TurnKey,
  signal: AbortSignal,
): Promise<TurnEnd> {
  const read = async (): Promise<TurnEnd | undefined> => {
    const end = await endOf(reader, turn);
    return end === 'unknown' ? undefined : end;
  };
  return (await onceStored(read, { withinMs: SETTLED_MS, signal })) ?? 'unknown';
}

/**
 * Reads until there is a value: what was admitted a moment ago reaches the store within some hundred milliseconds.
 * Undefined after that time, and once the signal aborts.
 */
export async function onceStored<Value>(
  read: () => Promise<Value | undefined>,
  { withinMs, signal }: { readonly withinMs: number; readonly signal?: AbortSignal },
): Promise<Value | undefined> {
  const giveUpAt = performance.now() + withinMs;
  for (;;) {
    const value = await read();
    if (value !== undefined || signal?.aborted === true || performance.now() > giveUpAt)
      return value;
    // An abort is the normal end of the pause.
    await sleep(POLL_MS, undefined, { signal }).catch(() => undefined);
  }
}

/** Seq of the event that ends the turn; `open` where it goes on. */
type TurnEnd = number | 'open' | 'unknown';

/** Asks without a wait: frames behind the one in question stay back until the answer. */
async function endOf(reader: ConversationReader, { key, turnId }: TurnKey): Promise<TurnEnd> {
  const options = { timeoutMs: 0, returnWhenWaiting: false };
  const result = await reader.turnResult(key, turnId, options);
  if (result === undefined) return 'unknown';
  return 'seq' in result && result.status !== 'waiting' ? result.seq : 'open';
}
