/** The turns of a transcript, and the summary that may stand before them. Pure. */

import type { Message, UserMessage } from '../../protocol/conversation/messages.js';
import type { TurnId } from '../../protocol/values/ids.js';

/**
 * Messages `from` to `to` (exclusive) belong to one turn. Spans are whole turns, because providers refuse a call
 * without its result.
 */
export interface TurnSpan {
  readonly turnId: TurnId;
  readonly from: number;
  readonly to: number;
}

/** The summary, if any, which is then the first message of the transcript. */
export function summaryOf(messages: readonly Message[]): UserMessage | undefined {
  const [first] = messages;
  return first?.role === 'user' && first.summary !== undefined ? first : undefined;
}

/** Index of the first message after the summary. */
export function headLength(messages: readonly Message[]): number {
  return summaryOf(messages) === undefined ? 0 : 1;
}

/** Oldest first, without the summary. */
export function turnSpans(messages: readonly Message[]): readonly TurnSpan[] {
  const spans: TurnSpan[] = [];
  let from = headLength(messages);
  while (from < messages.length) {
    const turnId = messages[from]?.turnId ?? '';
    let to = from + 1;
    while (to < messages.length && messages[to]?.turnId === turnId) to += 1;
    spans.push({ turnId, from, to });
    from = to;
  }
  return spans;
}

/** The messages from an index on, with the summary before them if there is one. */
export function messagesFrom(messages: readonly Message[], from: number): readonly Message[] {
  if (from <= headLength(messages)) return messages;
  const summary = summaryOf(messages);
  const rest = messages.slice(from);
  return summary === undefined ? rest : [summary, ...rest];
}
