/** The form of an agent's final answers: judged, and in the shape that the worker works with. Runs anywhere. */
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

/** What an answer must be; the model is given `jsonSchema`, or `strictSchema` where there is one. */
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

/** Of what was judged: by `checkAgentOutput`, or at the door. */
export function answerFormOf(schema: Schema): AnswerForm {
  const { jsonSchema } = inputJsonSchema(schema);
  const { strictInput } = strictnessOf(schema, jsonSchema);
  return {
    schema,
    jsonSchema,
    ...(strictInput === undefined ? {} : { strictSchema: strictInput }),
  };
}

/** What an agent's final answers are: the parsed side of its `output`; `never` for an agent without one. */
export type OutputOf<Agent> = Agent extends AnswersIn<infer Form> ? ParsedOf<Form> : unknown;

/** Remembers the form for the compiler; never present at run time. */
export interface AnswersIn<Form extends Schema> {
  readonly '~output'?: Form;
}

type Ended = TurnResult | { readonly status: 'queued' };

/**
 * The output of a turn, in the type of what it was asked for in: the agent, or the schema that went with the message. Undefined for a
 * turn that did not complete, or that a limit ended.
 *
 * Of an agent it was validated in the worker; a message that asked for another form makes that type untrue. By a zod type it is parsed
 * here, with its refinements, defaults and transforms, of which the worker knew nothing.
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
