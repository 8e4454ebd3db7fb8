/** Questions that the code of a server tool asks in the middle of its work. Wire format: only ever extended. Runs anywhere. */
import type { StampedActor } from '../values/actors.js';
import type { Audience } from '../values/audience.js';
import type { Json, JsonSchema } from '../values/json.js';

/** What ends a run of a tool without ending its call: somebody is asked, and the tool is entered again with the answer. */
export interface Question {
  /** JSON Schema (2020-12) of the answer, patterns and formats included. */
  readonly form: JsonSchema;
  /** What the tool wants to have again with the answer. */
  readonly state?: Json;
  /** What is asked, in words. */
  readonly reason?: string;
  /** Who may answer. @defaultValue the audience of the tool */
  readonly audience?: Audience;
  /** How long the answer may take. @defaultValue `timeouts.answer` of the call */
  readonly timeoutMs?: number;
  /** `enter`: the tool is entered again when somebody declines, too; absent: that ends the call. */
  readonly onDecline?: 'enter';
  /** The form has checks that no JSON Schema can say: the tool runs them when it takes the answer, and may refuse it. */
  readonly byCode?: true;
  /** Only the worker that polls this task queue can go on: it holds something open. Its run is lost where nobody polls it. */
  readonly heldAt?: string;
}

/** What a tool is given of its last question when it is entered again: exactly one of `answer` and `declined`. */
export interface AskedBefore {
  /** Questions that the call has asked until now. */
  readonly asks: number;
  readonly state?: Json;
  /** In a record of its own, since `null` is an answer. */
  readonly answer?: { readonly value: Json };
  readonly declined?: { readonly reason?: string };
  /** Who answered or declined. */
  readonly actor: StampedActor;
  /** The form of the question has checks that no JSON Schema can say. */
  readonly byCode?: true;
}
