/** Streams a log from a position and then its tail, with live events between: the content of SSE streams. */
import type { BeforePosition, WatchFrame } from '../../client/ports/reader.js';
import type { LogCursor } from '../../protocol/values/cursor.js';
import type { ConversationKey } from '../../protocol/values/ids.js';
import { rewrittenMarker } from '../../store/plans/append.js';
import type { LiveChannel, LiveMessage } from '../../store/ports/live.js';
import type { EventLog, EventsRead } from '../../store/ports/log.js';
import { StoreUnavailable } from '../../store/ports/log.js';
import { ChangeWaiter } from './change-waiter.js';
import { LiveTail } from './live-tail.js';

const PAGE_EVENTS = 200;
const PAGE_BYTES = 512 * 1024;

/**
 * The newest generation after a position. A position in another generation gets all of the newest, from the marker on. The
 * log of a conversation under the id of a deleted one has no marker, so it is made here.
 */
export async function readAfter(
  log: EventLog,
  key: ConversationKey,
  options: { readonly after: LogCursor | undefined; readonly limit?: number },
): Promise<EventsRead | undefined> {
  const { after, limit = PAGE_EVENTS } = options;
  const page = { limit, maxBytes: PAGE_BYTES };
  const read = await log.read(key, { ...page, afterSeq: after?.seq ?? -1 });
  if (after === undefined || read === undefined || read.generation === after.generation)
    return shown(read);
  return shown(withMarker(await log.read(key, { ...page, afterSeq: -1 }), after, limit));
}

function withMarker(
  read: EventsRead | undefined,
  after: LogCursor,
  limit: number,
): EventsRead | undefined {
  const first = read?.events[0];
  // A reader that has no event has nothing to drop.
  if (read === undefined || first === undefined || first.seq === 0 || after.seq === 0) return read;
  const marker = { ...rewrittenMarker(after.generation, 1), at: first.at };
  const events = [marker, ...read.events].slice(0, limit);
  return { ...read, events, more: read.more || events.length <= read.events.length };
}

/**
 * The newest events before a position, newest first; a position in another generation stands for the end of the newest.
 */
export async function readBefore(
  log: EventLog,
  key: ConversationKey,
  options: { readonly before: BeforePosition; readonly limit?: number },
): Promise<EventsRead | undefined> {
  const { before, limit = PAGE_EVENTS } = options;
  const page = { limit, maxBytes: PAGE_BYTES };
  const end = Number.MAX_SAFE_INTEGER;
  const read = await log.read(key, { ...page, beforeSeq: before === 'end' ? end : before.seq });
  if (before === 'end' || read === undefined || read.generation === before.generation)
    return shown(read);
  return shown(await log.read(key, { ...page, beforeSeq: end }));
}

/** Removes fields that only the engine uses. */
function shown(read: EventsRead | undefined): EventsRead | undefined {
  if (read?.events.some((event) => event.type === 'events_lost') !== true) return read;
  const events = read.events.map((event) => {
    if (event.type !== 'events_lost') return event;
    const { carried: _carried, ...rest } = event;
    return rest;
  });
  return { ...read, events };
}

/**
 * Yields events in order, without gap or repeat, until the signal aborts or the conversation that was read is deleted.
 * Waits for a conversation that is not stored yet; reads a store that fails after the first read again.
 * @throws {StoreUnavailable} when the first read fails.
 */
export async function* watchLog(
  deps: { readonly log: EventLog; readonly live?: LiveChannel | undefined },
  key: ConversationKey,
  options: { readonly after?: LogCursor | undefined; readonly signal: AbortSignal },
): AsyncGenerator<WatchFrame, void, undefined> {
  const { signal } = options;
  const waiter = new ChangeWaiter({ live: deps.live, key, signal, keepMessages: true });
  const tail = new LiveTail(() => {
    waiter.joinAgain();
  });
  let cursor = options.after;
  let hasRead = false;
  let isReadDue = true;
  try {
    while (!isAborted(signal)) {
      if (isReadDue) {
        const read = await readAgain(deps.log, key, { after: cursor, mayFail: hasRead });
        if (read === undefined && cursor !== undefined && (await isDeleted(deps.log, key))) return;
        hasRead = true;
        for (const event of read?.events ?? []) {
          cursor = { generation: read?.generation ?? 1, seq: event.seq };
          tail.note(event);
          yield { type: 'event', cursor, event };
          if (isAborted(signal)) return;
        }
        waiter.polled((read?.events.length ?? 0) > 0);
        isReadDue = read?.more === true;
        if (isReadDue) continue;
      }
      // Here the tail is reached.
      for (let message = waiter.take(); message !== undefined; message = waiter.take()) {
        isReadDue = isAhead(message, cursor);
        if (isReadDue) break;
        if (message.type !== 'live' && message.type !== 'so_far') continue;
        for (const event of tail.take(message)) {
          yield { type: 'live', event };
          if (isAborted(signal)) return;
        }
      }
      if (!isReadDue) {
        await waiter.wait();
        isReadDue = waiter.isPollDue();
      }
    }
  } finally {
    waiter.close();
  }
}

async function readAgain(
  log: EventLog,
  key: ConversationKey,
  options: { readonly after: LogCursor | undefined; readonly mayFail: boolean },
): Promise<EventsRead | undefined> {
  try {
    return await readAfter(log, key, { after: options.after });
  } catch (error) {
    if (options.mayFail && error instanceof StoreUnavailable) return undefined;
    throw error;
  }
}

async function isDeleted(log: EventLog, key: ConversationKey): Promise<boolean> {
  try {
    return (await log.head(key)) === undefined && (await log.deletion(key)) !== undefined;
  } catch (error) {
    if (error instanceof StoreUnavailable) return false;
    throw error;
  }
}

function isAhead(message: LiveMessage, cursor: LogCursor | undefined): boolean {
  if (message.type !== 'appended') return false;
  if (cursor === undefined || message.generation !== cursor.generation) return true;
  return message.lastSeq > cursor.seq;
}

/** A function, because the compiler would treat a property that it saw once as constant. */
function isAborted(signal: AbortSignal): boolean {
  return signal.aborted;
}
