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
import { headLength } from './turn-spans.js';

/** Messages are immutable, so each is measured once: windows and limits are evaluated at every step. */
const sizes = new WeakMap<Message, number>();

export function messageBytes(message: Message): number {
  const known = sizes.get(message);
  if (known !== undefined) return known;
  const bytes = utf8Bytes(JSON.stringify(message));
  sizes.set(message, bytes);
  return bytes;
}

/** Sets the size of a placeholder to that of the offloaded message that it represents. */
export function measured(message: Message, bytes: number): void {
  sizes.set(message, bytes);
}

/** Adds the results of a step: in one message, or in several where they are too large for one. */
export function withResults(
  state: ConversationState,
  { turnId, step }: Pick<ToolMessage, 'turnId' | 'step'>,
  parts: readonly ToolResultPart[],
): ConversationState {
  let next = state;
  for (const [index, group] of groupsOf(parts).entries()) {
    const id = `${turnId}.${step}.results${index === 0 ? '' : `.${index + 1}`}`;
    next = withMessage(next, { role: 'tool', id, turnId, step, parts: group });
  }
  return next;
}

function groupsOf(parts: readonly ToolResultPart[]): readonly (readonly ToolResultPart[])[] {
  const groups: ToolResultPart[][] = [];
  let room = 0;
  for (const part of parts) {
    const bytes = utf8Bytes(JSON.stringify(part));
    const last = bytes > room ? undefined : groups.at(-1);
    if (last === undefined) {
      groups.push([part]);
      room = MAX_RESULTS_MESSAGE_BYTES;
    } else last.push(part);
    room -= bytes;
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
export function withoutOldest(state: ConversationState, count: number): ConversationState {
  if (count === 0) return state;
  const head = state.transcript.slice(0, headLength(state.transcript));
  return withFront(state, { count: head.length + count, front: head, kept: head.length });
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
  return withFront(state, { count: messages, front: [summary], kept: 0 });
}

function withFront(
  state: ConversationState,
  {
    count,
    front,
    kept,
  }: { readonly count: number; readonly front: readonly Message[]; readonly kept: number },
): ConversationState {
  const { transcript, transcriptBytes, forgotten = 0 } = state;
  const bytesOf = (messages: readonly Message[]): number =>
    messages.reduce((sum, message) => sum + messageBytes(message), 0);
  return {
    ...state,
    transcript: [...front, ...transcript.slice(count)],
    transcriptBytes: transcriptBytes - bytesOf(transcript.slice(0, count)) + bytesOf(front),
    forgotten: forgotten + count - kept,
  };
}
