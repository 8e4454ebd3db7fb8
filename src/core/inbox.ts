/**
 * The inbox within the state. What it holds enters the transcript before the next model call of a turn; when no turn runs,
 * it starts one. Everything that comes over the wire is `unknown` here, and nothing throws.
 */
import { actorFrom, type StampedActor } from '../protocol/actors.js';
import type { EventBody, InboxEvent } from '../protocol/events.js';
import { requestIdProblem, turnIdFor } from '../protocol/ids.js';
import { type InboxEventReply, RESULT_EVENT_PREFIX } from '../protocol/inbox.js';
import {
  canonicalJson,
  fingerprint,
  isBoundedJson,
  isRecord,
  utf8Bytes,
} from '../protocol/json.js';
import {
  MAX_ANSWER_DEPTH,
  MAX_INBOX_EVENTS,
  MAX_MESSAGE_BYTES,
  MAX_REQUEST_ID_CHARS,
} from '../protocol/limits.js';
import type { FieldProblem } from '../protocol/resolutions.js';
import { TEXTS } from '../protocol/texts.js';
import { textProblems } from '../protocol/well-formed.js';
import { askerOfInput } from './audience.js';
import { isSameDigest } from './earlier-rows.js';
import { remember, type Stamped } from './fold.js';
import { plainInput } from './input.js';
import { misplacedRefusal, type Refusal } from './judge-message.js';
import type { ConversationMachine } from './machine.js';
import { remembered } from './memory.js';
import type { ConversationState, InboxEntry } from './state.js';
import { withMessage } from './transcript.js';

/** What came in waits for the next model call. */
export function withInboxEvent(
  state: ConversationState,
  event: Stamped<InboxEvent>,
): ConversationState {
  const { eventId, seq, payload, kind } = event;
  const entry: InboxEntry = { eventId, text: textOf(event), requester: askerOfInput(event) };
  const next = { ...state, inbox: [...(state.inbox ?? []), entry] };
  if (event.toolCallId !== undefined) return next;
  const digest = contentDigest(kind, payload);
  return remember(next, {
    requestId: eventId,
    operation: 'inbox',
    digest,
    reply: { eventId, seq },
  });
}

function textOf({ eventId, kind, payload, toolCallId, name, result }: InboxEvent): string {
  return toolCallId !== undefined && name !== undefined && result !== undefined
    ? TEXTS.inboxResult(name, toolCallId, JSON.stringify(result.envelope))
    : TEXTS.inboxEvent(kind, eventId, JSON.stringify(payload ?? null));
}

/** All that waits enters the transcript as messages of the turn, in the order in which it came. */
export function withInboxRead(state: ConversationState, turnId: string): ConversationState {
  const { inbox, ...rest } = state;
  if (inbox === undefined) return state;
  let next: ConversationState = rest;
  for (const { eventId, text } of inbox) {
    const id = `${turnId}.inbox.${eventId}`;
    const parts = [{ type: 'text' as const, text }];
    next = withMessage(next, { role: 'user', id, turnId, parts, inbox: eventId });
  }
  return next;
}

/** The turn that answers what waits, when no message does. */
export function inboxTurnEvent(
  state: ConversationState,
  turnToken: (() => string) | undefined,
): readonly EventBody[] {
  const inbox = state.inbox?.map(({ eventId }) => eventId);
  if (inbox === undefined) return [];
  const turnId = turnIdFor(state.chain, state.turnCount + 1, turnToken?.());
  return [{ type: 'turn_started', turnId, messageId: `${turnId}.inbox`, inbox }];
}

function contentDigest(kind: string, payload: unknown): string {
  return fingerprint(canonicalJson([kind, payload ?? null]));
}

const KIND = /^[A-Za-z][A-Za-z0-9_.-]{0,63}$/;

/** The shape rules of an event; clients apply them before anything is sent. */
export function inboxFieldProblems(received: unknown): readonly FieldProblem[] {
  const input = plainInput(received);
  if (!isRecord(input)) return [{ path: '', message: 'must be an object with "eventId"' }];
  const { eventId, kind, payload, agent } = input;
  const problems: FieldProblem[] = [...textProblems(input)];
  const idProblem = requestIdProblem('eventId', eventId);
  if (idProblem !== undefined) problems.push({ path: '/eventId', message: idProblem });
  else if (String(eventId).startsWith(RESULT_EVENT_PREFIX))
    problems.push({ path: '/eventId', message: `must not begin with "${RESULT_EVENT_PREFIX}"` });
  if (typeof kind !== 'string' || !KIND.test(kind))
    problems.push({ path: '/kind', message: 'must be a word such as "payment.settled"' });
  if (!isBoundedJson(payload, MAX_ANSWER_DEPTH))
    problems.push({
      path: '/payload',
      message: `must be JSON, nested at most ${MAX_ANSWER_DEPTH} deep`,
    });
  else if (utf8Bytes(JSON.stringify(payload)) > MAX_MESSAGE_BYTES)
    problems.push({ path: '/payload', message: `must be at most ${MAX_MESSAGE_BYTES} bytes` });
  if (agent !== undefined && typeof agent !== 'string')
    problems.push({ path: '/agent', message: 'must be a string' });
  return problems;
}

/** With code `duplicate`: what the first try was answered. */
export interface InboxRefusal extends Omit<Refusal, 'reply'> {
  readonly reply?: InboxEventReply;
}

/** Why an event cannot be taken, or undefined. */
export function judgeInbox(state: ConversationState, received: unknown): InboxRefusal | undefined {
  const input = plainInput(received);
  const problems = inboxFieldProblems(input);
  if (problems.length > 0 || !isRecord(input))
    return { code: 'invalid_request', message: 'The event breaks a rule', problems };
  const { eventId, kind, payload, agent } = input;
  const known = remembered(state, { operation: 'inbox', requestId: String(eventId) });
  if (known?.operation === 'inbox')
    return knownRefusal(known, contentDigest(String(kind), payload));
  const misplaced = misplacedRefusal(state, agent);
  if (misplaced !== undefined) return misplaced;
  const waiting = state.inbox ?? [];
  const bytes = waiting.reduce((sum, entry) => sum + utf8Bytes(entry.text), 0);
  if (waiting.length >= MAX_INBOX_EVENTS || bytes > 2 * MAX_MESSAGE_BYTES)
    return { code: 'queue_full', message: `${waiting.length} events wait already` };
  return undefined;
}

/** An id names one event for ever: with other content it is a mistake of the sender, who must hear of it. */
function knownRefusal(
  known: { readonly digest: string; readonly reply: InboxEventReply },
  digest: string,
): InboxRefusal {
  if (isSameDigest(known.digest, digest))
    return { code: 'duplicate', message: 'Accepted before', reply: known.reply };
  const message = 'was used before for an event with other content';
  return {
    code: 'invalid_request',
    message: 'The event breaks a rule',
    problems: [{ path: '/eventId', message }],
  };
}

export type InboxOutcome =
  | { readonly accepted: true; readonly reply: InboxEventReply }
  | { readonly accepted: false; readonly refusal: InboxRefusal };

/** Takes an event of another system, or says why not. Synchronous and total. */
export function takeInboxEvent(machine: ConversationMachine, received: unknown): InboxOutcome {
  const input = plainInput(received);
  const refusal = judgeInbox(machine.state, input);
  if (refusal !== undefined || !isRecord(input))
    return { accepted: false, refusal: refusal ?? { code: 'invalid_request', message: '' } };
  const eventId = String(input['eventId']);
  const actor: StampedActor = actorFrom(input['actor']);
  const payload = input['payload'] as NonNullable<InboxEvent['payload']>;
  const kind = String(input['kind']);
  const seq = machine.record([{ type: 'inbox_event', eventId, kind, payload, actor }]);
  return { accepted: true, reply: { eventId, seq } };
}

/** One that came as a signal: nobody can be told, so a refusal is written to the log, as that of a message; a duplicate is dropped. */
export function takeInboxSignal(machine: ConversationMachine, received: unknown): void {
  const input = plainInput(received);
  const outcome = takeInboxEvent(machine, input);
  if (outcome.accepted || outcome.refusal.code === 'duplicate' || machine.state.closed) return;
  const { eventId, actor } = isRecord(input) ? input : {};
  machine.refuse({
    type: 'message_refused',
    requestId: typeof eventId === 'string' ? eventId.slice(0, MAX_REQUEST_ID_CHARS) : '',
    code: outcome.refusal.code,
    actor: actorFrom(actor),
  });
}
