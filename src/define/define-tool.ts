/**
 * `defineTool`: validates one declaration as a whole, and turns it into the form that the engine works with. Runs
 * anywhere.
 */

import {
  type Effects,
  type Executor,
  type LateResult,
  labelsOf,
  type ToolLabels,
  type ToolMode,
  waitsOutside,
} from '../protocol/calls/executors.js';
import type { ApprovalPlan } from '../protocol/calls/plan.js';
import type { Retention } from '../protocol/conversation/context.js';
import { DEFAULT_TOOL_ATTEMPTS } from '../protocol/limits/service-limits.js';
import { durationMs } from '../protocol/values/durations.js';
import { isRecord, type JsonSchema } from '../protocol/values/json.js';
import { audienceOf } from './checks/audience.js';
import { ProblemList, shown, type Untyped } from './checks/problems.js';
import { checkWellFormed } from './checks/well-formed.js';
import { dropsKeysOnly, needsRecheck } from './schemas/recheck.js';
import {
  inputJsonSchema,
  isObjectSchema,
  jsonSchema,
  parsedSideProblems,
  type RawSchema,
  type Schema,
  type SchemaProblem,
  schemaProblem,
} from './schemas/schema.js';
import { strictnessOf } from './schemas/strictness.js';
import type { CallContext, UntypedServices } from './tool/context.js';
import type { AnswerRule, AnyTool, NamedSpec, Tool, ToolOf, Unshaped } from './tool/types.js';
import { checkExpireDefault, checkWarnBefore, claimProblem } from './tool-rules/expiry.js';
import { checkFields, executorOf } from './tool-rules/fields.js';
import { metadataOf } from './tool-rules/metadata.js';
import { PROVIDER_INPUT, providerDescription, providerToolOf } from './tool-rules/provider.js';
import { declaredTimeouts, timeoutsOf } from './tool-rules/timeouts.js';

/**
 * Declares a tool. See `ToolSpec` for the fields, by executor.
 * @throws {DefinitionError} invalid_definition with every broken rule of the definition.
 */
export function defineTool<
  Services = UntypedServices,
  Input extends Schema = Schema,
  Output extends Schema = RawSchema,
  const Name extends string = string,
  const Exec extends Executor = Executor,
  Shaped = Unshaped,
>(
  spec: NamedSpec<Services, Input, Output, { name: Name; executor: Exec; shaped: Shaped }>,
): ToolOf<Services, Input, Output, { name: Name; executor: Exec; shaped: Shaped }> {
  return compileTool(spec) as Tool<Services> as never;
}

/** The answer of a person when the tool declares no form. */
const FREE_TEXT = jsonSchema<string>({ type: 'string' });

function compileTool(spec: unknown): Tool<never> {
  const problems = new ProblemList();
  if (!isRecord(spec)) {
    problems.add('', `must be an object, got ${shown(spec)}`);
    problems.throwIfAny('a tool');
    return undefined as never;
  }
  checkFields(spec, problems);
  checkWellFormed(problems, spec, ['input', 'output']);
  const executor = executorOf(spec) ?? 'server';
  const isHosted = executor === 'provider';
  const input = isHosted ? jsonSchema(PROVIDER_INPUT) : spec['input'];
  const inputSchema = checkInput(input, problems);
  const output = spec['output'] ?? (executor === 'human' ? FREE_TEXT : undefined);
  const answer = checkOutput(output, executor, problems);
  const behaviour = behaviourOf(spec, executor);
  problems.addIf('timeouts.claim', claimProblem(behaviour.timeouts, claimIn(spec)));
  checkWarnBefore(spec, { executor, ...behaviour }, problems);
  const onExpireDefault =
    answer === undefined
      ? undefined
      : checkExpireDefault(spec['onExpire'], output as Schema | undefined, problems);
  problems.throwIfAny(`tool ${shown(spec['name'])}`);
  const strictness =
    isHosted || spec['strict'] === false ? {} : strictnessOf(input as Schema, inputSchema);
  // Strictness is known for a valid input schema only.
  if (spec['strict'] === true) problems.addIf('strict', strictness.notStrict);
  problems.throwIfAny(`tool ${shown(spec['name'])}`);
  return Object.freeze({
    kind: 'tool',
    executor,
    ...textsOf(spec),
    // Validated by `checkFields` before.
    ...labelsOf(spec as ToolLabels),
    input: input as Schema,
    inputSchema,
    ...strictness,
    ...(output === undefined ? {} : { output: output as Schema }),
    ...behaviour,
    ...(onExpireDefault === undefined ? {} : { onExpireDefault }),
    ...(answer === undefined ? {} : { answer }),
    ...(isHosted ? { provider: providerToolOf(spec['provider']) } : {}),
    ...retentionOf(spec),
    ...metadataOf(spec['metadata']),
    ...(typeof spec['version'] === 'string' ? { version: spec['version'] } : {}),
    ...(isRecord(spec['audience']) ? { audience: audienceOf(spec['audience']) } : {}),
    ...(typeof spec['approval'] === 'function' ? { policy: policyOf(spec) } : {}),
    ...codeOf(spec),
  }) satisfies Tool<never>;
}

function retentionOf({ retention }: Untyped): Pick<AnyTool, 'retention'> {
  // Validated by `checkFields` before.
  return retention === undefined ? {} : { retention: retention as Retention };
}

function textsOf(spec: Untyped): Pick<AnyTool, 'name' | 'description' | 'usage'> {
  // Validated by `checkFields` before.
  const { name, usage, ...given } = spec as Readonly<Record<string, string | undefined>>;
  const hosted =
    spec['executor'] === 'provider' ? providerDescription(spec['provider']) : undefined;
  const description = given['description'] ?? hosted;
  return { name: name ?? '', description: description ?? '', usage: usage ?? description ?? '' };
}

function behaviourOf(
  spec: Untyped,
  executor: Executor,
): Pick<
  AnyTool,
  | 'approval'
  | 'effects'
  | 'declaresEffects'
  | 'maxAttempts'
  | 'inline'
  | 'maxResultBytes'
  | 'taskQueue'
  | 'timeouts'
  | 'declaredTimeouts'
  | 'mode'
  | 'lateResult'
  | 'warnBeforeMs'
  | 'streaming'
  | 'endsTurn'
  | 'executesFully'
  | 'onOutcomeUnknown'
  | 'provenance'
> {
  const { taskQueue, maxResultBytes } = spec;
  const effects = (spec['effects'] as Effects | undefined) ?? 'idempotent';
  const warnBeforeMs = durationMs(spec['warnBefore']);
  const mode: ToolMode = spec['mode'] === 'detach' ? 'detach' : 'await';
  return {
    approval: approvalPlanOf(spec['approval']),
    effects,
    declaresEffects: spec['effects'] !== undefined,
    maxAttempts: attemptsOf(spec, effects),
    inline: spec['inline'] === true,
    ...(typeof maxResultBytes === 'number' ? { maxResultBytes } : {}),
    ...(typeof taskQueue === 'string' ? { taskQueue } : {}),
    ...clocksOf(spec, { executor, mode }),
    mode,
    lateResult: lateResultOf(spec['lateResult'], executor, mode),
    ...(warnBeforeMs === undefined ? {} : { warnBeforeMs }),
    streaming: spec['streaming'] === true,
    ...(spec['endsTurn'] === true ? { endsTurn: true } : {}),
    onOutcomeUnknown: spec['onOutcomeUnknown'] === 'hold' ? 'hold' : 'tell',
    ...(spec['provenance'] === 'untrusted' ? { provenance: 'untrusted' } : {}),
    executesFully: !waitsOutside(executor),
  };
}

function claimIn({ timeouts }: Untyped): unknown {
  return isRecord(timeouts) ? timeouts['claim'] : undefined;
}

function clocksOf(
  { timeouts }: Untyped,
  of: Pick<AnyTool, 'executor' | 'mode'>,
): Pick<AnyTool, 'timeouts' | 'declaredTimeouts'> {
  const declared = declaredTimeouts(timeouts);
  return {
    timeouts: timeoutsOf({ ...of, declaredTimeouts: declared }),
    declaredTimeouts: declared,
  };
}

function attemptsOf({ maxAttempts, reconcile }: Untyped, effects: Effects): number {
  // Without `reconcile` there is no way to know that a lost run had no effect.
  if (effects === 'once' && reconcile === undefined) return 1;
  return typeof maxAttempts === 'number' ? maxAttempts : DEFAULT_TOOL_ATTEMPTS;
}

/** Code of a tool; its callers pass further arguments at run time. */
type Code = (input: unknown, ctx: CallContext<never>) => unknown;

function codeOf(
  spec: Untyped,
): { run?: Code; reconcile?: Code; preflight?: Code } & Pick<AnyTool, 'migrate'> {
  const { migrate } = spec;
  const run = boundCode(spec, 'run');
  const reconcile = boundCode(spec, 'reconcile');
  const preflight = boundCode(spec, 'preflight');
  return {
    ...(run === undefined ? {} : { run }),
    ...(reconcile === undefined ? {} : { reconcile }),
    ...(preflight === undefined ? {} : { preflight }),
    ...(typeof migrate === 'function'
      ? {
          migrate: (raw, from) =>
            (migrate as NonNullable<AnyTool['migrate']>).call(spec, raw, from),
        }
      : {}),
  };
}

/** A function of the spec, bound to it, so that a method that reads its own definition through `this` works. */
function boundCode(spec: Untyped, field: string): Code | undefined {
  const code = spec[field];
  if (typeof code !== 'function') return undefined;
  return (input, ctx) => (code as Code).call(spec, input, ctx);
}

function policyOf(spec: Untyped): NonNullable<Tool<never>['policy']> {
  const policy = spec['approval'] as NonNullable<Tool<never>['policy']>;
  return (input, ctx) => policy.call(spec, input, ctx);
}

function approvalPlanOf(approval: unknown): ApprovalPlan {
  if (approval === undefined || approval === 'auto') return { needed: false };
  const ask = isRecord(approval) && isRecord(approval['ask']) ? approval['ask'] : {};
  const { reason, audience } = ask;
  return {
    needed: true,
    ...(typeof reason === 'string' ? { reason } : {}),
    ...(isRecord(audience) ? { audience: audienceOf(audience) } : {}),
  };
}

/**
 * Default of `lateResult`. A program that answers late has still done the work; a person's late answer meets a changed
 * conversation.
 */
function lateResultOf(given: unknown, executor: Executor, mode: ToolMode): LateResult {
  if (given === 'reject' || given === 'inbox') return given;
  const isTaken = executor === 'external' || (mode === 'detach' && waitsOutside(executor));
  return isTaken ? 'inbox' : 'reject';
}

function checkInput(input: unknown, problems: ProblemList): JsonSchema {
  const fault =
    input === undefined
      ? 'is missing; a tool without input takes z.object({})'
      : schemaProblem(input);
  if (fault !== undefined) {
    problems.add('input', fault);
    return {};
  }
  const schema = input as Schema;
  const converted = inputJsonSchema(schema);
  addAll(problems, 'input', converted.problems);
  addAll(problems, 'input', onlyNew(parsedSideProblems(schema), converted.problems));
  if (converted.problems.length === 0 && !isObjectSchema(converted.jsonSchema))
    problems.add('input', 'must be an object at the top: models pass named arguments');
  return converted.jsonSchema;
}

/**
 * Outputs of tools that run in a worker may be any value that normalises to JSON; answers of people and clients must be
 * JSON already.
 */
function checkOutput(
  output: unknown,
  executor: Executor,
  problems: ProblemList,
): AnswerRule | undefined {
  const fromOutside = waitsOutside(executor);
  if (output === undefined) return fromOutside ? { recheck: false } : undefined;
  const fault = schemaProblem(output);
  if (fault !== undefined) {
    problems.add('output', fault);
    return undefined;
  }
  const schema = output as Schema;
  const isRaw = 'jsonSchema' in schema;
  if (!fromOutside && !isRaw) return undefined;
  const converted = inputJsonSchema(schema);
  addAll(problems, 'output', converted.problems);
  return fromOutside ? { schema: converted.jsonSchema, ...recheckOf(schema) } : undefined;
}

function recheckOf(schema: Schema): Pick<AnswerRule, 'recheck' | 'recheckOnly'> {
  if (!needsRecheck(schema)) return { recheck: false };
  return dropsKeysOnly(schema) ? { recheck: true, recheckOnly: 'unknown_keys' } : { recheck: true };
}

function addAll(problems: ProblemList, field: string, found: readonly SchemaProblem[]): void {
  for (const { path, rule } of found) problems.add(path === '' ? field : `${field}.${path}`, rule);
}

function onlyNew(
  found: readonly SchemaProblem[],
  known: readonly SchemaProblem[],
): readonly SchemaProblem[] {
  return found.filter((problem) => known.every(({ path }) => path !== problem.path));
}
