/**
 * Turns the calls of a model into plans that pin everything about them: validated input, gate, timeouts, retries. A
 * call that cannot run gets its error result here, so that no approver ever waits for bad arguments. Runs in the
 * worker.
 */
import type { AnyAgent } from '../../define/define-agent.js';
import type { AnyTool, SubAgent } from '../../define/tool/types.js';
import { timeoutsOf } from '../../define/tool-rules/timeouts.js';
import { labelsOf, waitsOutside } from '../../protocol/calls/executors.js';
import type { PlannedCall, SubAgentPlan } from '../../protocol/calls/plan.js';
import type { ToolResultError } from '../../protocol/calls/results.js';
import { TEXTS } from '../../protocol/failures/texts.js';
import { MAX_CALLS_PER_STEP, MAX_REASON_CHARS } from '../../protocol/limits/limits.js';
import {
  DEFAULT_ANSWER_TIMEOUT_MS,
  DEFAULT_APPROVAL_TIMEOUT_MS,
  DEFAULT_RUN_TIMEOUT_MS,
  MAX_TOOL_INPUT_BYTES,
} from '../../protocol/limits/service-limits.js';
import type { RequestedCall } from '../../protocol/model/model.js';
import { isRecord, type Json, utf8Bytes } from '../../protocol/values/json.js';
import { cutText } from '../../protocol/values/well-formed.js';
import type { CallModelResult } from '../../protocol/workflow/activities.js';
import { definitionOf } from '../definition/digest.js';
import { refusalOf } from '../plugins/call-hooks.js';
import { argsDigest, parseArguments, rawOf, tooLarge, validInput } from '../shared/arguments.js';
import { toJson } from '../shared/normalise.js';
import { decidePolicies, type PolicyDeps } from '../shared/policy.js';

type PlannedCalls = CallModelResult['calls'];

/** An unknown name is still recorded and shown; models invent long ones. */
export const MAX_UNKNOWN_NAME_CHARS = 128;

/**
 * Plans every call, in the model's order: one plan per call, also for invalid calls. Policies run here and never again.
 * Has no effects; planning again gives the same plans if schemas and policies are deterministic. Never throws.
 */
export async function planCalls(request: {
  readonly agent: AnyAgent;
  readonly calls: readonly RequestedCall[];
  readonly deps: PolicyDeps;
}): Promise<PlannedCalls> {
  const { agent, calls } = request;
  const isSequential = agent.settings.toolExecution === 'sequential';
  return Promise.all(
    calls.map(async (call, index) => ({
      plan:
        isSequential && index > 0 && index < MAX_CALLS_PER_STEP && mayBePlannedLater(agent, call)
          ? unplanned(agent, call)
          : await planCall(request, call, index),
      argumentsJson: call.argumentsJson,
    })),
  );
}

/**
 * A call that the provider runs waits for an approval only, and for no other call. A tool that this model call did not
 * have, perhaps because a plugin hid it, must not be found when the turn of the call has come.
 */
function mayBePlannedLater(agent: AnyAgent, { hosted, name }: RequestedCall): boolean {
  return hosted !== true && agent.tools.some((tool) => tool.name === name);
}

async function planCall(
  { agent, deps }: { readonly agent: AnyAgent; readonly deps: PolicyDeps },
  call: RequestedCall,
  index: number,
): Promise<PlannedCall> {
  const tool = agent.tools.find(({ name }) => name === call.name);
  if (tool === undefined) {
    const available = agent.tools.map(({ name }) => name);
    const name = call.name.slice(0, MAX_UNKNOWN_NAME_CHARS);
    return failed(unknownCall(call.id, name), 'unknown_tool', TEXTS.unknownTool(name, available));
  }
  if (tool.executor === 'provider' && call.hosted === true && index < MAX_CALLS_PER_STEP)
    return hostedPlan(agent, tool, call);
  if (tool.executor === 'provider')
    return failed(unknownCall(call.id, tool.name), 'not_available', TEXTS.providerTool(tool.name));
  const plan = planOf(agent, tool, call.id);
  if (index >= MAX_CALLS_PER_STEP)
    return failed(plan, 'too_many_calls', TEXTS.tooManyCalls(MAX_CALLS_PER_STEP));
  const refusal = refusalOf(agent, tool, deps.states);
  if (refusal !== undefined) return failed(plan, 'tool_error', refusal);
  const parsed = parseArguments(call.argumentsJson);
  if (!parsed.ok) return failed(plan, 'invalid_json', TEXTS.invalidJson(tool.name, parsed.problem));
  const input = await validInput(tool, parsed.value);
  if (!input.ok) return failed(plan, 'invalid_input', TEXTS.invalidInput(tool.name, input.problem));
  const { value } = input;
  const raw = rawOf(parsed.value as Json, value);
  const valid = { ...plan, input: value, ...raw, argsDigest: argsDigest(value) };
  const question = { agent, tool, toolCallId: call.id, input: value, deps };
  const { ok: _ok, ...policy } = await decidePolicies(question);
  return { ...valid, ...policy };
}

/**
 * The provider asks before it runs a call, so the plan covers only the approval. Once approved, its result is its
 * input, and the provider runs the call inside the next model call. The definition is pinned, because a tool that is
 * gone, or not the provider's any more, must not be approved.
 */
function hostedPlan(agent: AnyAgent, tool: AnyTool, call: RequestedCall): PlannedCall {
  const timeouts = timeoutsOf(tool, agent.timeouts);
  const { definition } = definitionOf(tool);
  const executor = 'internal' as const;
  const planned = { ...unknownCall(call.id, tool.name), ...labelsOf(tool) };
  const plan = { ...planned, executor, timeouts, definition };
  const parsed = parseArguments(call.argumentsJson);
  if (!parsed.ok) return failed(plan, 'invalid_json', TEXTS.invalidJson(tool.name, parsed.problem));
  const input = toJson(parsed.value);
  const bytes = utf8Bytes(JSON.stringify(input));
  // The approver has to see all of it.
  if (bytes > MAX_TOOL_INPUT_BYTES)
    return failed(plan, 'invalid_input', TEXTS.invalidInput(tool.name, tooLarge(bytes)));
  const asked = isRecord(input) ? input['tool'] : undefined;
  const reason = TEXTS.hostedApproval(typeof asked === 'string' ? asked : 'a tool', tool.name);
  return {
    ...plan,
    input,
    argsDigest: argsDigest(input),
    approval: { needed: true, reason: cutText(reason, MAX_REASON_CHARS) },
  };
}

/** The known part of a call whose turn has not come: its tool, if there is one, and its arguments. */
function unplanned(agent: AnyAgent, call: RequestedCall): PlannedCall {
  const tool = agent.tools.find(({ name }) => name === call.name);
  const plan =
    tool === undefined || tool.executor === 'provider'
      ? unknownCall(call.id, call.name.slice(0, MAX_UNKNOWN_NAME_CHARS))
      : planOf(agent, tool, call.id);
  return { ...plan, unplanned: { argumentsJson: call.argumentsJson } };
}

function failed(plan: PlannedCall, code: ToolResultError['code'], message: string): PlannedCall {
  return { ...plan, error: { code, message } };
}

function planOf(agent: AnyAgent, tool: AnyTool, toolCallId: string): PlannedCall {
  const { answer, taskQueue, warnBeforeMs, onExpireDefault, mcp, provenance } = tool;
  const { subAgent, handoff } = tool;
  return {
    toolCallId,
    name: tool.name,
    ...labelsOf(tool),
    executor: tool.executor,
    mode: tool.mode,
    approval: tool.approval,
    timeouts: timeoutsOf(tool, agent.timeouts),
    effects: tool.effects,
    maxAttempts: tool.maxAttempts,
    ...(tool.preflight === undefined ? {} : { preflight: true }),
    ...(tool.streaming && waitsOutside(tool.executor) ? { streaming: true } : {}),
    ...(tool.endsTurn === undefined ? {} : { endsTurn: true }),
    ...(tool.reconcile === undefined ? {} : { reconcile: true }),
    ...(tool.inline ? { inline: true } : {}),
    ...(tool.onOutcomeUnknown === 'hold' ? { onOutcomeUnknown: 'hold' } : {}),
    lateResult: tool.lateResult,
    ...(taskQueue === undefined ? {} : { taskQueue }),
    ...(mcp === undefined ? {} : { mcp: mcp.ref }),
    ...madeFields(tool),
    ...(provenance === undefined ? {} : { provenance }),
    ...(subAgent === undefined ? {} : { subAgent: subAgentPlan(subAgent) }),
    ...(handoff === undefined ? {} : { handoff: { agent: handoff.agent().name } }),
    ...(answer?.schema === undefined ? {} : { answerSchema: answer.schema }),
    ...(answer?.recheck === true ? { recheckAnswer: true } : {}),
    ...(answer?.recheckOnly === undefined ? {} : { recheckOnly: answer.recheckOnly }),
    ...(warnBeforeMs === undefined ? {} : { warnBeforeMs }),
    ...(onExpireDefault === undefined ? {} : { onExpireDefault }),
    ...definitionOf(tool),
  };
}

/** Readers of the log find the metadata of other tools in the manifest of the agent. */
function madeFields({ made, metadata }: AnyTool): Pick<PlannedCall, 'made' | 'metadata'> {
  if (made === undefined) return {};
  return { made, ...(metadata === undefined ? {} : { metadata }) };
}

function subAgentPlan({ agent, budgets, outlives }: SubAgent): SubAgentPlan {
  return {
    agent: agent.name,
    ...(budgets === undefined ? {} : { budgets }),
    ...(outlives === undefined ? {} : { outlives }),
  };
}

/** The plan of a call whose tool is gone when its turn has come. */
export function goneCall(
  { toolCallId, name }: Pick<PlannedCall, 'toolCallId' | 'name'>,
  { code, message }: ToolResultError,
): PlannedCall {
  return failed(unknownCall(toolCallId, name), code, message);
}

/** The plan of a call that the engine will not run. */
export function unknownCall(toolCallId: string, name: string): PlannedCall {
  return {
    toolCallId,
    name,
    executor: 'server',
    mode: 'await',
    approval: { needed: false },
    timeouts: {
      approvalMs: DEFAULT_APPROVAL_TIMEOUT_MS,
      answerMs: DEFAULT_ANSWER_TIMEOUT_MS,
      runMs: DEFAULT_RUN_TIMEOUT_MS,
    },
    effects: 'none',
    maxAttempts: 1,
    lateResult: 'reject',
  };
}
