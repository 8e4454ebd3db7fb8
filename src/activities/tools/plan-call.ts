/**
 * Plans one call of a step whose calls run one after the other: it is validated, and its policies run, when its turn
 * has come. Has no effects of its own; policies may do look-ups.
 */
import { Context } from '@temporalio/activity';
import type { PlannedCall } from '../../protocol/calls/plan.js';
import type { PlanCallInput } from '../../protocol/workflow/activities.js';
import { planCalls } from '../../tools/plan/plan.js';
import { type ActivityTools, policyDeps } from '../shared/deps.js';
import { agentOf } from '../shared/failure.js';
import { withHeartbeat } from '../shared/heartbeat.js';
import { withListedTools } from '../shared/listed-tools.js';

/** An unknown agent is failure `unknown_agent`, retried; problems of the call are in its plan. */
export async function planCall(tools: ActivityTools, input: PlanCallInput): Promise<PlannedCall> {
  const agent = agentOf(tools, input.agent);
  const { toolCallId, name, argumentsJson } = input.call;
  const calls = [{ id: toolCallId, name, argumentsJson }];
  const deps = policyDeps(tools, input);
  const [planned] = await withHeartbeat(async () => {
    const planning = planCalls({ agent: await withListedTools(tools, agent), calls, deps });
    return Promise.race([planning, Context.current().cancelled]);
  });
  if (planned === undefined) throw new Error('unreachable: one call has one plan');
  return planned.plan;
}
