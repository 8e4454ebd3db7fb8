/** Reads and judges messages. Pure; never throws. */

import { outputSchemaProblem } from '../../json-schema/output-format.js';
import { ON_BUSY } from '../../protocol/conversation/agents.js';
import type { SendMessageReply } from '../../protocol/conversation/conversation.js';
import { textOf, type UserPart } from '../../protocol/conversation/messages.js';
import { MAX_MESSAGE_BYTES, MAX_QUEUED_MESSAGES } from '../../protocol/limits/limits.js';
import type { FieldProblem } from '../../protocol/values/field-problem.js';
import { requestIdProblem } from '../../protocol/values/ids.js';
import { isRecord, utf8Bytes } from '../../protocol/values/json.js';
import { textProblems } from '../../protocol/values/well-formed.js';
import { onBusyOf } from '../calls/busy.js';
import { attachmentProblems, messageDigest, messageParts } from '../input/attachments.js';
import type { PlainRecord } from '../input/plain-input.js';
import { isSameRequest, REUSED } from '../memory/duplicates.js';
import { rememberedMessage } from '../memory/memory.js';
import type { ConversationState } from '../state/state.js';
import type { Judged, Parsed, Refusal } from './judged.js';

export type MessageRefusal = Refusal<SendMessageReply>;

/** Limit of the text that may wait behind a turn. Roll-overs carry the queue in one payload of at most 2 MiB. */
const MAX_QUEUED_BYTES = 2 * MAX_MESSAGE_BYTES;

/** The rules for the shape of a message; clients apply them before they send one. */
export function messageFieldProblems(input: unknown): readonly FieldProblem[] {
  if (!isRecord(input)) return [{ path: '', message: 'must be an object with "text"' }];
  const { text, requestId, onBusy, ifRejected, agent } = input;
  const problems: FieldProblem[] = [...textProblems(input)];
  if (typeof text !== 'string') problems.push({ path: '/text', message: 'must be a string' });
  else if (text.trim() === '') problems.push({ path: '/text', message: 'must not be blank' });
  else {
    const bytes = utf8Bytes(text);
    if (bytes > MAX_MESSAGE_BYTES)
      problems.push({
        path: '/text',
        message: `must be at most ${MAX_MESSAGE_BYTES} bytes in UTF-8, got ${bytes}`,
      });
  }
  problems.push(...attachmentProblems(input['attachments']));
  const { output } = input;
  const outputProblem =
    output === undefined || output === false ? undefined : outputSchemaProblem(output);
  if (outputProblem !== undefined) problems.push({ path: '/output', message: outputProblem });
  if (requestId !== undefined) {
    const problem = requestIdProblem('requestId', requestId);
    if (problem !== undefined) problems.push({ path: '/requestId', message: problem });
  }
  if (onBusy !== undefined && !ON_BUSY.some((known) => known === onBusy))
    problems.push({
      path: '/onBusy',
      message: `must be ${ON_BUSY.map((known) => `"${known}"`).join(' or ')}`,
    });
  if (ifRejected !== undefined && typeof ifRejected !== 'boolean')
    problems.push({ path: '/ifRejected', message: 'must be true or false' });
  if (agent !== undefined && typeof agent !== 'string')
    problems.push({ path: '/agent', message: 'must be a string' });
  return problems;
}

export function parseMessage(input: unknown): Parsed<PlainRecord, MessageRefusal> {
  const problems = messageFieldProblems(input);
  return problems.length > 0 || !isRecord(input)
    ? { refusal: { code: 'invalid_request', message: 'The message breaks a rule', problems } }
    : { request: input };
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
    if (known !== undefined) return knownRefusal(known, messageDigest(messageParts(input), output));
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

function knownRefusal(
  known: { readonly digest: string; readonly reply: SendMessageReply },
  digest: string,
): MessageRefusal {
  return isSameRequest(known.digest, digest)
    ? { code: 'duplicate', message: 'Accepted before', reply: known.reply }
    : { code: 'invalid_request', message: 'The message breaks a rule', problems: [REUSED] };
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

/** Why the conversation cannot accept new input of any kind, or undefined. */
export function misplacedRefusal(
  state: ConversationState,
  agent: unknown,
): Refusal<never> | undefined {
  if (state.closed)
    return {
      code: 'conversation_closed',
      message: 'The conversation is closed; reopen it to go on',
    };
  if (agent === undefined || agent === state.agent) return undefined;
  return {
    code: 'agent_mismatch',
    message: `The conversation belongs to agent "${state.agent}"`,
    problems: [{ path: '/agent', message: `must be "${state.agent}"` }],
  };
}
