/**
 * The items of a transcript: messages, and references to messages in the blob store. Plain JSON like the rest of the
 * state. Pure.
 */

import type { EarlierResult } from '../../protocol/calls/results.js';
import type { Message } from '../../protocol/conversation/messages.js';
import type { MessageId, ToolCallId, TurnId } from '../../protocol/values/ids.js';

/** Messages of one turn, in a row, whose bodies are in the blob store: all that decisions need to know of them. */
export interface OffloadedMessages {
  readonly role: 'offloaded';
  readonly turnId: TurnId;
  /** Id of the last of the messages: a summary names its end by such an id. */
  readonly id: MessageId;
  /** Id of the blob that has the messages, at the indexes from `from` to `to` (exclusive). */
  readonly chunk: string;
  readonly from: number;
  readonly to: number;
  /** Bytes of the messages as JSON. */
  readonly bytes: number;
  /** Calls in the messages, whose ids stay taken. Absent when there are none. */
  readonly calls?: readonly ToolCallId[];
  /**
   * Results in the messages, while a call of the turn is open: policies of that call read them. Absent when there are
   * none.
   */
  readonly results?: readonly EarlierResult[];
}

export type TranscriptItem = Message | OffloadedMessages;

export function isOffloaded(item: TranscriptItem): item is OffloadedMessages {
  return item.role === 'offloaded';
}

/** The items that are messages. */
export function wholeMessages(items: readonly TranscriptItem[]): readonly Message[] {
  return items.filter((item): item is Message => !isOffloaded(item));
}

/** Number of messages for which these items stand. */
export function countMessages(items: readonly TranscriptItem[]): number {
  return items.reduce((sum, item) => sum + (isOffloaded(item) ? item.to - item.from : 1), 0);
}

/** Number of the first items that stand for so many messages; an item that ends later counts as well. */
export function itemsOf(items: readonly TranscriptItem[], messages: number): number {
  let left = messages;
  let index = 0;
  for (; index < items.length && left > 0; index += 1)
    left -= countMessages(items.slice(index, index + 1));
  return index;
}
