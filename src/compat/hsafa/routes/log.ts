/** Reads of the log of a conversation, from its end. Runs anywhere. */
import type { CanonicalEvent } from '../../../protocol/log/events.js';
import type { LogCursor } from '../../../protocol/values/cursor.js';

export interface LogPage {
  readonly events: readonly CanonicalEvent[];
  readonly cursor: LogCursor;
  readonly more: boolean;
}

/** The part of a conversation by which its log is read. */
export interface ReadLog {
  events(options: { readonly before: LogCursor | 'end'; readonly limit: number }): Promise<LogPage>;
}

const PAGE_EVENTS = 200;
const MAX_PAGES = 50;
/** An event further back is not found. */
export const MAX_EVENTS_BACK = PAGE_EVENTS * MAX_PAGES;

/**
 * Calls `take` with each event and its place, newest first, until it returns true. Resolves to how the search ended: it
 * was `found`, the log has no more, or it is longer than the bound.
 */
export async function searchBack(
  log: ReadLog,
  take: (event: CanonicalEvent, at: LogCursor) => boolean,
): Promise<'found' | 'start' | 'bound'> {
  let before: LogCursor | 'end' = 'end';
  for (let read = 0; read < MAX_PAGES; read += 1) {
    const page: LogPage = await log.events({ before, limit: PAGE_EVENTS });
    const { generation } = page.cursor;
    for (const event of page.events)
      if (take(event, { generation, seq: event.seq })) return 'found';
    if (!page.more) return 'start';
    before = page.cursor;
  }
  return 'bound';
}
