/**
 * Activities that judge single calls by this worker's definitions: plans, answers, edits, changed definitions. None has
 * effects; all are safe to repeat.
 */
import { Context } from '@temporalio/activity';
import type { AnyAgent } from '../../define/define-agent.js';
import type {
  CheckDefinitionInput,
  CheckDefinitionResult,
} from '../../protocol/calls/definitions.js';
import type { PlannedCall } from '../../protocol/calls/plan.js';
import type {
  CheckAnswerInput,
  CheckAnswerResult,
  CheckEditInput,
  CheckEditResult,
  PlanCallInput,
} from '../../protocol/workflow/activities.js';
import {
  checkForm,
  checkAnswer as checkOfAnswer,
  goneTool,
  isJudgedBy,
} from '../../tools/definition/answers.js';
import { checkCall } from '../../tools/definition/check.js';
import { definitionOf } from '../../tools/definition/digest.js';
import { checkEdit as checkOfEdit } from '../../tools/definition/edits.js';
import { goneCall, planCalls } from '../../tools/plan/plan.js';
import type { PolicyDeps } from '../../tools/shared/policy.js';
import { policyDeps, type ScopedTools } from '../shared/deps.js';
import { agentOf, interruption } from '../shared/failure.js';
import { withHeartbeat } from '../shared/heartbeat.js';
import { calledTool, type MissingTool, withListedTools } from '../shared/listed-tools.js';
import { leaveToOthers } from '../shared/other-workers.js';
import { runOf } from '../shared/transcripts.js';

/**
 * See `checkCall`. Ends calls of a tool that no longer exists; an unknown agent is failure `unknown_agent`, retried.
 */
export async function checkDefinition(
  tools: ScopedTools,
  input: CheckDefinitionInput,
): Promise<CheckDefinitionResult> {
  const agent = agentOf(tools, input.agent);
  const { call, found } = input;
  const { name, mcp } = call;
  const context = Context.current();
  const signal = context.cancellationSignal;
  try {
    return await withHeartbeat(async () => {
      const deps = await policyDepsFor(tools, agent, input);
      const tool = await calledTool(tools, agent.name, { ...input, name, mcp, isNew: true });
      if ('missing' in tool) {
        leaveToOthers('The tool is not defined in this worker');
        const error = { code: tool.code ?? 'not_available', message: tool.missing } as const;
        return { outcome: 'ended', error };
      }
      if (found !== undefined && definitionOf(tool).definition !== found)
        leaveToOthers('The tool is defined in this worker as it was before it was changed');
      return await checkCall({ agent, tool, call, deps, signal });
    });
  } catch (error) {
    throw signal.aborted ? interruption(context, 'tool_lost') : error;
  }
}

/**
 * Ends calls of a tool that no longer exists: unchecked, their answers must not reach the model. An unknown agent is
 * failure `unknown_agent`, retried. The form of a question that a tool's code asked is in the input, and needs neither.
 * When this worker lacks the definition that the call was offered with, the first attempts are left to others; then its
 * own definition judges.
 */
export async function checkAnswer(
  tools: ScopedTools,
  input: CheckAnswerInput,
): Promise<CheckAnswerResult> {
  const { form } = input;
  if (form !== undefined) return withHeartbeat(() => checkForm(form, input.value));
  const agent = agentOf(tools, input.agent);
  const { value, answerDefinition } = input;
  return withHeartbeat(async () => {
    const tool = await calledTool(tools, agent.name, { ...input, isNew: true });
    const isMissing = 'missing' in tool;
    if (isMissing || !isJudgedBy(tool, answerDefinition))
      leaveToOthers('The tool is not defined in this worker as it was when the call was offered');
    if (isMissing) return { ok: false, ended: goneTool(input.name) };
    return await checkOfAnswer({ tool, value, answerDefinition });
  });
}

/** Ends calls of a tool that no longer exists. An unknown agent is failure `unknown_agent`, retried. */
export async function checkEdit(
  tools: ScopedTools,
  edit: CheckEditInput,
): Promise<CheckEditResult> {
  const agent = agentOf(tools, edit.agent);
  const { toolCallId, input } = edit;
  return withHeartbeat(async () => {
    const deps = await policyDepsFor(tools, agent, edit);
    const tool = await calledTool(tools, agent.name, { ...edit, isNew: true });
    if (!('missing' in tool)) return checkOfEdit({ agent, tool, toolCallId, input, deps });
    leaveToOthers('The tool is not defined in this worker');
    return { ok: false, ended: { code: tool.code ?? 'not_available', message: tool.missing } };
  });
}

/** An unknown agent is failure `unknown_agent`, retried; problems of the call are in its plan. */
export async function planCall(tools: ScopedTools, input: PlanCallInput): Promise<PlannedCall> {
  const agent = agentOf(tools, input.agent);
  const { toolCallId, name, argumentsJson } = input.call;
  const calls = [{ id: toolCallId, name, argumentsJson }];
  return withHeartbeat(async () => {
    const deps = await policyDepsFor(tools, agent, input);
    const known = await withMadeTool(tools, await withListedTools(tools, agent), input);
    if ('missing' in known) return goneCall(input.call, goneTool(name));
    const planning = planCalls({ agent: known, calls, deps });
    const [planned] = await Promise.race([planning, Context.current().cancelled]);
    if (planned === undefined) throw new Error('unreachable: one call has one plan');
    return planned.plan;
  });
}

async function policyDepsFor(
  tools: ScopedTools,
  agent: AnyAgent,
  input: PlanCallInput | CheckEditInput | CheckDefinitionInput,
): Promise<PolicyDeps> {
  // States that this worker has to ask for are worth it only where code can read them.
  const states =
    agent.plugins === undefined
      ? {}
      : await tools.states.statesOf(runOf(Context.current()), input.states);
  return policyDeps(tools, input, states);
}

/** The agent with the tool of the call, if that was made at run time. */
async function withMadeTool(
  tools: ScopedTools,
  agent: AnyAgent,
  input: PlanCallInput,
): Promise<AnyAgent | MissingTool> {
  if (input.made === undefined) return agent;
  const { name } = input.call;
  const tool = await calledTool(tools, agent.name, { ...input, name, isNew: true });
  return 'missing' in tool ? tool : { ...agent, tools: [...agent.tools, tool] };
}
