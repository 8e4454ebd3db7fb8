/**
 * Questions that the code of a server tool asks in the middle of its work. Wire format: only ever extended. Runs
 * anywhere.
 */
import type { StampedActor } from '../values/actors.js';
import type { Audience } from '../values/audience.js';
import type { Json, JsonSchema } from '../values/json.js';

/** A question that ends a run of a tool without ending its call: the tool is entered again with the answer. */
export interface Question {
  /** JSON Schema (2020-12) of the answer, patterns and formats included. */
  readonly form: JsonSchema;
  /** State that the tool gets back with the answer. */
  readonly state?: Json;
  /** The question in words. */
  readonly reason?: string;
  /** Audience of the answer. @defaultValue the audience of the tool */
  readonly audience?: Audience;
  /** Milliseconds that the answer may take. @defaultValue `timeouts.answer` of the call */
  readonly timeoutMs?: number;
  /** `enter`: the tool is entered again after a decline, too; absent: a decline ends the call. */
  readonly onDecline?: 'enter';
  /**
   * The form has checks that JSON Schema cannot express: the tool runs them when it takes the answer, and may refuse
   * it.
   */
  readonly byCode?: true;
  /**
   * Task queue of the only worker that can continue, since it holds the call open. The run is lost where the queue
   * has no poller.
   */
  readonly heldAt?: string;
}

/** The last question of a tool, as the next run gets it: exactly one of `answer` and `declined`. */
export interface AskedBefore {
  /** Questions that the call has asked until now. */
  readonly asks: number;
  readonly state?: Json;
  /** A record of its own, since `null` is an answer. */
  readonly answer?: { readonly value: Json };
  readonly declined?: { readonly reason?: string };
  /** The actor who answered or declined. */
  readonly actor: StampedActor;
  /** The form of the question has checks that JSON Schema cannot express. */
  readonly byCode?: true;
}
