/** The transcript within the state: adds and removes messages, and measures them. Pure. */

import type {
  Message,
  ToolMessage,
  ToolResultPart,
  UserMessage,
} from '../../protocol/conversation/messages.js';
import { TEXTS } from '../../protocol/failures/texts.js';
import { MAX_RESULTS_MESSAGE_BYTES } from '../../protocol/limits/limits.js';
import type { SummaryEvent } from '../../protocol/log/events.js';
import { utf8Bytes } from '../../protocol/values/json.js';
import type { ConversationState } from '../state/state.js';
import { countMessages, isOffloaded, itemsOf, type TranscriptItem } from '../state/transcript.js';
import { headLength } from './turn-spans.js';

/** Bytes of a message as JSON, or of the offloaded messages that an item stands for. */
export function messageBytes(item: TranscriptItem): number {
  return isOffloaded(item) ? item.bytes : utf8Bytes(JSON.stringify(item));
}

/** Bytes of the messages that are not offloaded, without measuring them. */
export function inlineBytes({
  transcript,
  transcriptBytes,
}: Pick<ConversationState, 'transcript' | 'transcriptBytes'>): number {
  return transcriptBytes - bytesOf(transcript.filter(isOffloaded));
}

/** The sum for these items. @defaultValue `sizeOf` is `messageBytes` */
export function bytesOf<Item extends TranscriptItem>(
  items: readonly Item[],
  sizeOf: (item: Item) => number = messageBytes,
): number {
  return items.reduce((sum, item) => sum + sizeOf(item), 0);
}

/** Adds the results of a step: in one message, or in several where they are too large for one. */
export function withResults(
  state: ConversationState,
  { turnId, step, skipped }: Pick<ToolMessage, 'turnId' | 'step' | 'skipped'>,
  parts: readonly ToolResultPart[],
): ConversationState {
  const mark = skipped === undefined ? {} : { skipped };
  let next = state;
  for (const [index, group] of groupsOf(parts).entries()) {
    const id = `${turnId}.${step}.results${index === 0 ? '' : `.${index + 1}`}`;
    next = withMessage(next, { role: 'tool', id, turnId, step, parts: group, ...mark });
  }
  return next;
}

/** The messages that model calls read: without the steps whose only call has ended their turn. */
export function withoutSkipped(messages: readonly Message[]): readonly Message[] {
  const skipped = new Set<string>();
  for (const message of messages)
    if (message.role === 'tool' && message.skipped === true) skipped.add(stepOf(message));
  if (skipped.size === 0) return messages;
  return messages.filter((message) => message.role === 'user' || !skipped.has(stepOf(message)));
}

function stepOf({ turnId, step }: Pick<ToolMessage, 'turnId' | 'step'>): string {
  return `${turnId}.${step}`;
}

function groupsOf(parts: readonly ToolResultPart[]): readonly (readonly ToolResultPart[])[] {
  const groups: ToolResultPart[][] = [];
  let spaceLeft = 0;
  for (const part of parts) {
    const bytes = utf8Bytes(JSON.stringify(part));
    const last = bytes > spaceLeft ? undefined : groups.at(-1);
    if (last === undefined) {
      groups.push([part]);
      spaceLeft = MAX_RESULTS_MESSAGE_BYTES;
    } else last.push(part);
    spaceLeft -= bytes;
  }
  return groups;
}

export function withMessage(state: ConversationState, message: Message): ConversationState {
  return {
    ...state,
    transcript: [...state.transcript, message],
    transcriptBytes: state.transcriptBytes + messageBytes(message),
  };
}

/** Removes this many of the oldest messages; a summary before them stays. */
export function withoutOldest(state: ConversationState, messages: number): ConversationState {
  if (messages === 0) return state;
  const { transcript } = state;
  const head = headLength(transcript);
  const front = transcript.slice(0, head);
  return withFront(state, { to: head + itemsOf(transcript.slice(head), messages), front });
}

/** Replaces the messages that the summary covers, including an earlier summary, by the summary. */
export function summarized(state: ConversationState, event: SummaryEvent): ConversationState {
  const { ordinal, throughTurnId, messages, text } = event;
  const summary: UserMessage = {
    role: 'user',
    id: `summary_${ordinal}`,
    turnId: throughTurnId,
    parts: [{ type: 'text', text: TEXTS.summary(text) }],
    summary: ordinal,
  };
  const left = withFront(state, { to: itemsOf(state.transcript, messages), front: [] });
  const { transcript, transcriptBytes } = left;
  return {
    ...left,
    transcript: [summary, ...transcript],
    transcriptBytes: transcriptBytes + messageBytes(summary),
  };
}

/** Removes the items before an index, except a front that stays. */
function withFront(
  state: ConversationState,
  { to, front }: { readonly to: number; readonly front: readonly TranscriptItem[] },
): ConversationState {
  const { transcript, transcriptBytes, forgotten = 0 } = state;
  const left = transcript.slice(front.length, to);
  return {
    ...state,
    transcript: [...front, ...transcript.slice(to)],
    transcriptBytes: transcriptBytes - bytesOf(left),
    forgotten: forgotten + countMessages(left),
  };
}
