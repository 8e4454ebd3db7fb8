/** Migrates a call to another definition of its tool, if the author provides `migrate`. Runs in the worker. */

import type { MigratedCall } from '../../protocol/calls/definitions.js';
import type { ToolResultError } from '../../protocol/calls/results.js';
import { TEXTS } from '../../protocol/failures/texts.js';
import { MAX_ANSWER_DEPTH } from '../../protocol/limits/limits.js';
import { POLICY_TIMEOUT_MS } from '../../protocol/limits/service-limits.js';
import { isBoundedJson, type Json } from '../../protocol/values/json.js';
import { timed } from '../run/timed.js';
import { argsDigest, rawOf, validInput } from '../shared/arguments.js';
import { messageOf } from '../shared/message-of.js';
import { toJson } from '../shared/normalise.js';
import { decidePolicies, type PolicyQuestion } from '../shared/policy.js';
import { definitionOf } from './digest.js';

export interface Migration extends Omit<PolicyQuestion, 'input'> {
  /** The original arguments, and the digest of the definition that they were written for. */
  readonly raw: Json;
  readonly from: string;
  /** Why the original arguments cannot be used. */
  readonly problem: string;
  readonly signal: AbortSignal;
}

/**
 * | `migrate` of the tool | outcome |
 * |---|---|
 * | is not declared, or returns undefined | error `definition_changed` |
 * | returns arguments that the input schema accepts | the call with its new input and digest, and the policies' decision |
 * | returns other arguments, throws, or takes more than 10 s | error `definition_changed` with the reason |
 *
 * @throws the reason of `signal` once that fires.
 */
export async function migrateCall(
  migration: Migration,
): Promise<MigratedCall | { readonly error: ToolResultError }> {
  const { agent, tool, toolCallId, deps } = migration;
  const carried = await carriedOver(migration);
  if ('problem' in carried) {
    const message = TEXTS.definitionChanged(tool.name, carried.problem);
    return { error: { code: 'definition_changed', message } };
  }
  const { given, input } = carried;
  const policy = await decidePolicies({ agent, tool, toolCallId, input, deps });
  if (!policy.ok) return { error: policy.error };
  const { approval, answerAudience } = policy;
  return {
    input,
    ...rawOf(given, input),
    argsDigest: argsDigest(input),
    definition: definitionOf(tool).definition,
    approval,
    ...(answerAudience === undefined ? {} : { answerAudience }),
  };
}

export type Carried =
  | { readonly given: Json; readonly input: Json }
  /** Why it cannot be migrated, as a text. */
  | { readonly problem: string };

/**
 * The arguments that the author's `migrate` returns, validated; runs no policy. @throws the reason of `signal` once
 * that fires.
 */
export async function carriedOver({
  tool,
  raw,
  from,
  problem,
  signal,
}: Pick<Migration, 'tool' | 'raw' | 'from' | 'problem' | 'signal'>): Promise<Carried> {
  const { migrate } = tool;
  if (migrate === undefined) return { problem };
  const limits = { signal, timeoutMs: POLICY_TIMEOUT_MS };
  const end = await timed(limits, () => migrate(structuredClone(raw), from));
  if (end.end === 'timeout')
    return { problem: `its migrate took more than ${POLICY_TIMEOUT_MS}ms` };
  if (end.end === 'threw') return { problem: `its migrate failed: ${messageOf(end.error)}` };
  if (end.value === undefined) return { problem };
  const given = jsonOf(end.value);
  if (given === undefined) return { problem: 'its migrate returned a value that is not JSON' };
  const parsed = await validInput(tool, given);
  return parsed.ok
    ? { given, input: parsed.value }
    : { problem: `its migrate returned invalid arguments: ${parsed.problem}` };
}

function jsonOf(value: unknown): Json | undefined {
  try {
    const json = toJson(value);
    return isBoundedJson(json, MAX_ANSWER_DEPTH) ? json : undefined;
  } catch {
    return undefined;
  }
}
