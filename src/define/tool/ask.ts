/** Questions that a server tool asks in the middle of its run, as its author writes them. Runs anywhere. */

import { withoutSlowPatterns } from '../../json-schema/judge/patterns.schema.js';
import type { JsonSchema } from '../../protocol/values/json.js';
import type { AudienceSpec } from '../checks/audience.js';
import type { Duration } from '../checks/durations.js';
import { isSaidByJsonSchema } from '../schemas/recheck.js';
import { inputJsonSchema, isZodSchema, type Schema, schemaProblem } from '../schemas/schema.js';

/** One question. */
export interface AskSpec {
  /** The shape of the answer: zod, or JSON Schema through `jsonSchema()`; at most 8 KiB as JSON Schema. */
  readonly form: Schema;
  /**
   * What the tool is given again with the answer, as `ctx.state`: JSON of at most 8 KiB. Stands in the conversation's log, so no
   * secrets.
   */
  readonly state?: unknown;
  /** The question, in words. */
  readonly reason?: string;
  /** Who may answer. @defaultValue the tool's audience, else anybody */
  readonly audience?: AudienceSpec;
  /** How long the answer may take. @defaultValue the tool's `timeouts.answer`, else 24 hours */
  readonly timeout?: Duration;
  /** `end`: a refusal to answer is the call's result. `enter`: the tool is entered again, with `ctx.declined`. @defaultValue 'end' */
  readonly onDecline?: 'end' | 'enter';
}

/** A form as it travels to whoever answers, on whatever worker the answer is judged. */
export interface AskForm {
  readonly schema: JsonSchema;
  /** It has checks that no JSON Schema can say: they are run when the tool reads the answer. */
  readonly byCode: boolean;
}

/** @throws {TypeError} that names what cannot be a form. */
export function askFormOf(form: unknown): AskForm {
  const fault = schemaProblem(form);
  if (fault !== undefined) throw new TypeError(`form ${fault}`);
  const schema = form as Schema;
  const byCode = isZodSchema(schema) && !isSaidByJsonSchema(schema);
  // Where code reads the answer, it drops unknown keys itself, and closed parts of an intersection would admit nothing.
  const { jsonSchema, problems } = inputJsonSchema(schema, { closed: !byCode });
  const [problem] = problems;
  // Code judges by the patterns that a worker could not judge by in linear time.
  if (problem === undefined)
    return { schema: byCode ? withoutSlowPatterns(jsonSchema) : jsonSchema, byCode };
  const { path, rule } = problem;
  throw new TypeError(`form${path === '' ? '' : `.${path}`}: ${rule}`);
}

/** What came of a question that somebody would not answer. */
export interface Declined {
  readonly reason?: string;
}
