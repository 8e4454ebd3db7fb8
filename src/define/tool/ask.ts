/** Questions that a server tool asks during its run, as its author declares them. Runs anywhere. */

import { withoutSlowPatterns } from '../../json-schema/judge/patterns.schema.js';
import type { Duration } from '../../protocol/values/durations.js';
import type { JsonSchema } from '../../protocol/values/json.js';
import type { AudienceSpec } from '../checks/audience.js';
import { isSaidByJsonSchema } from '../schemas/recheck.js';
import { inputJsonSchema, isZodSchema, type Schema, schemaProblem } from '../schemas/schema.js';

/** One question. */
export interface AskSpec {
  /** The shape of the answer: zod, or JSON Schema through `jsonSchema()`; at most 8 KiB as JSON Schema. */
  readonly form: Schema;
  /**
   * State that the tool gets back with the answer, as `ctx.state`: JSON of at most 8 KiB. Recorded in the
   * conversation's log, so it must have no secrets.
   */
  readonly state?: unknown;
  /** The question in words. */
  readonly reason?: string;
  /** Audience of the answer. @defaultValue the tool's audience, else every actor */
  readonly audience?: AudienceSpec;
  /** How long the answer may take. @defaultValue the tool's `timeouts.answer`, else 24 hours */
  readonly timeout?: Duration;
  /**
   * `end`: a refusal to answer is the call's result. `enter`: the tool is entered again, with `ctx.declined`.
   * @defaultValue 'end'
   */
  readonly onDecline?: 'end' | 'enter';
}

/** A form as it is recorded, so that any worker can judge the answer. */
export interface AskForm {
  readonly schema: JsonSchema;
  /** Present checks that JSON Schema cannot express; they run when the tool reads the answer. */
  readonly byCode: boolean;
}

/** The form of a question. @throws {TypeError} that names the reason why it is no form. */
export function askFormOf(form: unknown): AskForm {
  const fault = schemaProblem(form);
  if (fault !== undefined) throw new TypeError(`form ${fault}`);
  const schema = form as Schema;
  const byCode = isZodSchema(schema) && !isSaidByJsonSchema(schema);
  // Where code reads the answer, it drops unknown keys itself, and closed parts of an intersection would admit nothing.
  const { jsonSchema, problems } = inputJsonSchema(schema, { closed: !byCode });
  const [problem] = problems;
  // The tool's code checks patterns that a worker could not check in linear time.
  if (problem === undefined)
    return { schema: byCode ? withoutSlowPatterns(jsonSchema) : jsonSchema, byCode };
  const { path, rule } = problem;
  throw new TypeError(`form${path === '' ? '' : `.${path}`}: ${rule}`);
}

/** The refusal to answer a question. */
export interface Declined {
  readonly reason?: string;
}
