/**
 * The inbox: input that is neither a message of a user nor the answer of a waiting call: results of detached calls,
 * results that came late, and events of other systems. Each has a stable id and enters the conversation once. Wire
 * format.
 */
import type { Actor, StampedActor } from '../values/actors.js';
import type { Json } from '../values/json.js';

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
