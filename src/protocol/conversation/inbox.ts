/**
 * The inbox: input that is neither a message of a user nor the answer of a waiting call: results of detached calls,
 * results that came late, and events of other systems. Each has a stable id and enters the conversation once. Wire
 * format.
 */
import { MAX_ANSWER_DEPTH, MAX_MESSAGE_BYTES } from '../limits/limits.js';
import type { Actor, StampedActor } from '../values/actors.js';
import type { FieldProblem } from '../values/field-problem.js';
import { requestIdProblem } from '../values/ids.js';
import { isBoundedJson, isRecord, type Json, utf8Bytes } from '../values/json.js';
import { textProblems } from '../values/well-formed.js';

/** Prefix of the engine's own ids, those of results of calls. */
export const RESULT_EVENT_PREFIX = 'tr:';

/** Payload of `inboxEvent`, as update and as signal. */
export interface InboxEventInput {
  /** Stable, made by the sender: the same id is one event, however often it is sent. */
  readonly eventId: string;
  /** Kind of the event, in a word that the model reads: `payment.settled`. */
  readonly kind: string;
  readonly payload: Json;
  readonly actor?: Actor | StampedActor;
  /** The agent that the caller expects; a conversation never changes its agent. */
  readonly agent?: string;
}

export interface InboxEventReply {
  readonly eventId: string;
  /** Sequence number of the recorded event. */
  readonly seq: number;
}

const KIND = /^[A-Za-z][A-Za-z0-9_.-]{0,63}$/;

/** The rules for the fields of an event; clients and workflow apply them. Accepts any value and never throws. */
export function inboxFieldProblems(input: unknown): readonly FieldProblem[] {
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
