/**
 * Decides whether a call that was planned by one definition may run under another. With equal digests, it runs. Else
 * the present definition parses the raw arguments, and the call runs if the result is the recorded input, with no field
 * that the definition does not know. Runs in the worker.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { isZodSchema } from '../../define/schemas/schema.js';
import type { AnyTool } from '../../define/tool/types.js';
import { unnamedKeys } from '../../json-schema/unknown-keys.js';
import type { PlannedCall } from '../../protocol/calls/plan.js';
import { canonicalJson, isRecord, type Json } from '../../protocol/values/json.js';
import { validInput } from '../shared/arguments.js';
import { definitionOf } from './digest.js';

/** The input of a plan, with the definition that made it. */
export type PlannedInput = Pick<PlannedCall, 'raw' | 'definition' | 'executor'> & {
  readonly input: Json;
};

export type Judged =
  | { readonly runs: true }
  /** `definition` is the digest of the present one. */
  | { readonly runs: false; readonly definition: string; readonly problem: string };

/** Longer than a tick of a clock that a default may read. */
const TICK_MS = 5;
const MAX_NAMED_FIELDS = 10;

/** Has no effects but those of the schema's own code. Never throws. */
export async function judgeInput(tool: AnyTool, call: PlannedInput): Promise<Judged> {
  const { definition } = definitionOf(tool);
  // The plan of a worker in another language pins no digest; a listed tool that is not listed now has no schema.
  if (call.definition === undefined || call.definition === definition || isUnlisted(tool))
    return { runs: true };
  if (tool.executor !== call.executor)
    return { runs: false, definition, problem: `it is a tool of executor "${tool.executor}" now` };
  const raw = call.raw ?? call.input;
  const parsed = await validInput(tool, raw);
  if (!parsed.ok) return { runs: false, definition, problem: parsed.problem };
  if (isSame(parsed.value, call.input)) {
    const problem = unnamedProblem(tool, call.input);
    return problem === undefined ? { runs: true } : { runs: false, definition, problem };
  }
  if (await takesAsItIs(tool, call, parsed.value)) return { runs: true };
  return { runs: false, definition, problem: differenceOf(call.input, parsed.value) };
}

/**
 * A definition that parses the same arguments to another input each time (a default that is a time, an id) cannot be
 * compared. Then it has to accept the recorded input unchanged.
 */
async function takesAsItIs(tool: AnyTool, call: PlannedInput, parsed: Json): Promise<boolean> {
  await sleep(TICK_MS);
  const again = await validInput(tool, call.raw ?? call.input);
  if (!again.ok || isSame(again.value, parsed)) return false;
  const recorded = await validInput(tool, call.input);
  return recorded.ok && isSame(recorded.value, call.input);
}

/**
 * Zod removes fields that a type does not have, so that the parsed input differs. A JSON Schema keeps them: the code
 * would get a field that it does not read, and not the one that has replaced it.
 */
function unnamedProblem({ input, inputSchema }: AnyTool, value: Json): string | undefined {
  if (isZodSchema(input)) return undefined;
  const unnamed = unnamedKeys(inputSchema, value);
  if (unnamed.length === 0) return undefined;
  return `it does not name ${shown(unnamed)} of these arguments`;
}

function isUnlisted({ mcp }: AnyTool): boolean {
  return mcp?.unlisted === true;
}

function isSame(left: Json, right: Json): boolean {
  return canonicalJson(left) === canonicalJson(right);
}

/** Describes the difference by the names of fields alone: values may be secret. */
function differenceOf(before: Json, now: Json): string {
  if (!isRecord(before) || !isRecord(now)) return 'its arguments are parsed differently';
  const names = [...new Set([...Object.keys(before), ...Object.keys(now)])];
  const differing = names.filter(
    (name) => canonicalJson(before[name]) !== canonicalJson(now[name]),
  );
  return `it reads ${shown(differing.map((name) => `/${name}`))} of these arguments in another way`;
}

function shown(paths: readonly string[]): string {
  return paths.slice(0, MAX_NAMED_FIELDS).join(', ');
}
