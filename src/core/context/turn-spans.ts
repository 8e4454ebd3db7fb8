/** The turns of a transcript, and the summary that may stand before them. Pure. */

import type { UserMessage } from '../../protocol/conversation/messages.js';
import type { TurnId } from '../../protocol/values/ids.js';
import type { TranscriptItem } from '../state/transcript.js';

/**
 * Items `from` to `to` (exclusive) belong to one turn. Spans are whole turns, because providers refuse a call
 * without its result.
 */
export interface TurnSpan {
  readonly turnId: TurnId;
  readonly from: number;
  readonly to: number;
}

/** The summary, if any, which is then the first message of the transcript. */
export function summaryOf(items: readonly TranscriptItem[]): UserMessage | undefined {
  const [first] = items;
  return first?.role === 'user' && first.summary !== undefined ? first : undefined;
}

/** Index of the first item after the summary. */
export function headLength(items: readonly TranscriptItem[]): number {
  return summaryOf(items) === undefined ? 0 : 1;
}

/** Oldest first, without the summary. */
export function turnSpans(items: readonly TranscriptItem[]): readonly TurnSpan[] {
  const spans: TurnSpan[] = [];
  let from = headLength(items);
  while (from < items.length) {
    const turnId = items[from]?.turnId ?? '';
    let to = from + 1;
    while (to < items.length && items[to]?.turnId === turnId) to += 1;
    spans.push({ turnId, from, to });
    from = to;
  }
  return spans;
}

/** The items from an index on, with the summary before them if there is one. */
export function messagesFrom<Item extends TranscriptItem>(
  items: readonly Item[],
  from: number,
): readonly Item[] {
  const head = headLength(items);
  return from <= head ? items : [...items.slice(0, head), ...items.slice(from)];
}
