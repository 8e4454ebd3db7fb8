/** The schema of an agent's final answers: validated, and in the form that the worker works with. Runs anywhere. */
import { z } from 'zod';
import { outputSchemaProblem } from '../../json-schema/output-format.js';
import type { TurnResult } from '../../protocol/conversation/conversation.js';
import type { JsonSchema } from '../../protocol/values/json.js';
import type { ProblemList } from '../checks/problems.js';
import {
  inputJsonSchema,
  isZodSchema,
  type ParsedOf,
  parsedSideProblems,
  type Schema,
  schemaProblem,
} from '../schemas/schema.js';
import { strictnessOf } from '../schemas/strictness.js';

/** Form of an answer; the model is given `jsonSchema`, or `strictSchema` where there is one. */
export interface AnswerForm {
  readonly schema: Schema;
  readonly jsonSchema: JsonSchema;
  readonly strictSchema?: JsonSchema;
}

/** Adds every fault of an agent's `output`. */
export function checkAgentOutput(output: unknown, problems: ProblemList): void {
  if (output === undefined) return;
  const fault = schemaProblem(output);
  if (fault !== undefined) {
    problems.add('output', fault);
    return;
  }
  const { jsonSchema, problems: found } = inputJsonSchema(output as Schema);
  const parsed = parsedSideProblems(output as Schema);
  const all = [...found, ...parsed.filter(({ path }) => found.every((it) => it.path !== path))];
  for (const { path, rule } of all) problems.add(path === '' ? 'output' : `output.${path}`, rule);
  if (all.length === 0) problems.addIf('output', outputSchemaProblem(jsonSchema));
}

/** The form of a schema that was validated, by `checkAgentOutput` or by the client and API. */
export function answerFormOf(schema: Schema): AnswerForm {
  const { jsonSchema } = inputJsonSchema(schema);
  const { strictInput } = strictnessOf(schema, jsonSchema);
  return {
    schema,
    jsonSchema,
    ...(strictInput === undefined ? {} : { strictSchema: strictInput }),
  };
}

/** Type of an agent's final answers: the parsed side of its `output`; `unknown` for an agent without one. */
export type OutputOf<Agent> = Agent extends AnswersIn<infer Form> ? ParsedOf<Form> : unknown;

/** Carries the form for the compiler; never present at run time. */
export interface AnswersIn<Form extends Schema> {
  readonly '~output'?: Form;
}

type Ended = TurnResult | { readonly status: 'queued' };

/**
 * The output of a turn, in the type of its agent, or of the schema that went with the message. Undefined for a turn
 * that did not complete, or that a limit ended.
 *
 * For an agent it was validated in the worker; a message that set another schema makes the type wrong. For a zod type
 * it is parsed here, with its refinements, defaults and transforms, which the worker did not know.
 * @throws {z.ZodError} when it does not parse
 */
export function outputOf<Agent extends { readonly kind: 'agent' }>(
  asked: Agent,
  result: Ended,
): OutputOf<Agent> | undefined;
export function outputOf<Form extends Schema>(
  asked: Form,
  result: Ended,
): ParsedOf<Form> | undefined;
export function outputOf(asked: unknown, result: Ended): unknown {
  const output = result.status === 'completed' ? result.output : undefined;
  return output === undefined || !isZodSchema(asked) ? output : z.parse(asked, output);
}
