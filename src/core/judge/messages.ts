/**
 * Reads and judges new input: messages, and inbox events, which enter the transcript before the next model call of a
 * turn; when no turn runs, they start one. Pure; never throws.
 */

import { outputSchemaProblem } from '../../json-schema/output-format.js';
import type { SendMessageReply } from '../../protocol/conversation/conversation.js';
import type { InboxEventReply } from '../../protocol/conversation/inbox.js';
import { inboxFieldProblems } from '../../protocol/conversation/inbox.js';
import { messageFieldProblems } from '../../protocol/conversation/message-fields.js';
import { textOf, type UserPart } from '../../protocol/conversation/messages.js';
import {
  MAX_INBOX_EVENTS,
  MAX_MESSAGE_BYTES,
  MAX_QUEUED_MESSAGES,
} from '../../protocol/limits/limits.js';
import type { FieldProblem } from '../../protocol/values/field-problem.js';
import { REUSED } from '../../protocol/values/ids.js';
import { isRecord, utf8Bytes } from '../../protocol/values/json.js';
import { onBusyOf } from '../calls/busy.js';
import { messageDigest, messageParts } from '../input/attachments.js';
import type { PlainRecord } from '../input/plain-input.js';
import { contentDigest } from '../memory/duplicates.js';
import { rememberedInboxEvent, rememberedMessage } from '../memory/memory.js';
import { isSameDigest } from '../state/requests.js';
import type { ConversationState } from '../state/state.js';
import { invalidRequest, type Judged, type Parsed, type Refusal } from './judged.js';

export type MessageRefusal = Refusal<SendMessageReply>;
export type InboxRefusal = Refusal<InboxEventReply>;

/** Limit of the text that may wait behind a turn. Roll-overs carry the queue in one payload of at most 2 MiB. */
const MAX_QUEUED_BYTES = 2 * MAX_MESSAGE_BYTES;

/** The rules that a message breaks. */
function problemsOf(input: unknown): readonly FieldProblem[] {
  const problems = messageFieldProblems(input);
  const output = isRecord(input) ? input['output'] : undefined;
  if (output === undefined || output === false) return problems;
  const problem = outputSchemaProblem(output);
  return problem === undefined ? problems : [...problems, { path: '/output', message: problem }];
}

export function parseMessage(input: unknown): Parsed<PlainRecord, MessageRefusal> {
  return readable(input, MESSAGE, problemsOf(input));
}

export function judgeMessage(
  state: ConversationState,
  input: PlainRecord,
): Judged<PlainRecord, MessageRefusal> {
  const refusal = messageRefusal(state, input);
  return refusal === undefined ? { accepted: input } : { refusal };
}

function messageRefusal(state: ConversationState, input: PlainRecord): MessageRefusal | undefined {
  const { requestId, output } = input;
  if (typeof requestId === 'string') {
    const known = rememberedMessage(state, requestId);
    if (known !== undefined) {
      const digest = messageDigest(messageParts(input), output);
      return knownRefusal(known, digest, invalidRequest(MESSAGE, [REUSED]).refusal);
    }
  }
  const misplaced = misplacedRefusal(state, input['agent']);
  if (misplaced !== undefined) return misplaced;
  const busy = state.turn !== undefined || state.queue.length > 0;
  const onBusy = onBusyOf(state, input);
  if (busy && onBusy === 'reject')
    return {
      code: 'busy',
      message:
        'A turn is running; wait for its end, or send with onBusy "queue", "interrupt" or "steer"',
    };
  const waiting = state.queue.length + (state.turn?.steering?.length ?? 0);
  if (waiting >= MAX_QUEUED_MESSAGES)
    return { code: 'queue_full', message: `${MAX_QUEUED_MESSAGES} messages wait already` };
  if (waiting > 0 && queuedBytes(state) + bytesOf(messageParts(input), output) > MAX_QUEUED_BYTES)
    return { code: 'queue_full', message: `${MAX_QUEUED_BYTES} bytes of messages wait already` };
  return undefined;
}

function queuedBytes(state: ConversationState): number {
  const waiting = [...state.queue, ...(state.turn?.steering ?? [])];
  return waiting.reduce((sum, { parts, output }) => sum + bytesOf(parts, output), 0);
}

function bytesOf(parts: readonly UserPart[], output: unknown): number {
  const others = parts.filter(({ type }) => type !== 'text');
  const beside = [...others, ...(output === undefined ? [] : [output])];
  return utf8Bytes(textOf(parts)) + (beside.length === 0 ? 0 : utf8Bytes(JSON.stringify(beside)));
}

export function parseInboxEvent(input: unknown): Parsed<PlainRecord, InboxRefusal> {
  return readable(input, EVENT, inboxFieldProblems(input));
}

export function judgeInboxEvent(
  state: ConversationState,
  input: PlainRecord,
): Judged<PlainRecord, InboxRefusal> {
  const refusal = inboxRefusal(state, input);
  return refusal === undefined ? { accepted: input } : { refusal };
}

function inboxRefusal(state: ConversationState, input: PlainRecord): InboxRefusal | undefined {
  const { eventId, kind, payload, agent } = input;
  const known = rememberedInboxEvent(state, String(eventId));
  if (known !== undefined) {
    const message = 'was used before for an event with other content';
    const reused = invalidRequest(EVENT, [{ path: '/eventId', message }]).refusal;
    return knownRefusal(known, contentDigest(String(kind), payload), reused);
  }
  const misplaced = misplacedRefusal(state, agent);
  if (misplaced !== undefined) return misplaced;
  const waiting = state.inbox ?? [];
  const bytes = waiting.reduce((sum, entry) => sum + utf8Bytes(entry.text), 0);
  if (waiting.length >= MAX_INBOX_EVENTS || bytes > MAX_QUEUED_BYTES)
    return { code: 'queue_full', message: `${waiting.length} events wait already` };
  return undefined;
}

const MESSAGE = 'The message breaks a rule';
const EVENT = 'The event breaks a rule';

function readable(
  input: unknown,
  message: string,
  problems: readonly FieldProblem[],
): Parsed<PlainRecord, Refusal<never>> {
  return problems.length > 0 || !isRecord(input)
    ? invalidRequest(message, problems)
    : { request: input };
}

/**
 * The refusal of input under a known id: a repeat, or `reused` for other content, which is a mistake of the sender and
 * must be reported.
 */
function knownRefusal<Reply>(
  known: { readonly digest: string; readonly reply: Reply },
  digest: string,
  reused: Refusal<never>,
): Refusal<Reply> {
  return isSameDigest(known.digest, digest)
    ? { code: 'duplicate', message: 'Accepted before', reply: known.reply }
    : reused;
}

/** Why the conversation cannot accept new input of any kind, or undefined. */
export function misplacedRefusal(
  state: ConversationState,
  agent: unknown,
): Refusal<never> | undefined {
  if (state.closed)
    return {
      code: 'conversation_closed',
      message: 'The conversation is closed; reopen it to continue',
    };
  const { formerAgents = [] } = state;
  const isKnown = agent === state.agent || formerAgents.some((name) => name === agent);
  if (agent === undefined || isKnown) return undefined;
  return {
    code: 'agent_mismatch',
    message: `The conversation belongs to agent "${state.agent}"`,
    problems: [{ path: '/agent', message: `must be "${state.agent}"` }],
  };
}
