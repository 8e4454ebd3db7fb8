/** Checks an accepted answer by all of its tool's schema. Has no effects; safe to repeat. */
import type { CheckAnswerInput, CheckAnswerResult } from '../protocol/activities.js';
import { TEXTS } from '../protocol/texts.js';
import { checkAnswer as check, checkForm } from '../tools/answers.js';
import type { ActivityTools } from './deps.js';
import { agentOf } from './failure.js';
import { withHeartbeat } from './heartbeat.js';

/**
 * Refuses answers of a tool that is gone: unchecked, they must not reach the model. An unknown agent is failure
 * `unknown_agent`, retried. The form of a question that a tool's code asked comes along, and needs neither.
 */
export async function checkAnswer(
  tools: ActivityTools,
  input: CheckAnswerInput,
): Promise<CheckAnswerResult> {
  const { form } = input;
  if (form !== undefined) return withHeartbeat(() => checkForm(form, input.value));
  const agent = agentOf(tools, input.agent);
  const tool = tools.registry.tool(agent.name, input.name);
  if (tool === undefined)
    return { ok: false, problems: [{ path: '', message: TEXTS.noLongerAvailable(input.name) }] };
  return withHeartbeat(() => check({ tool, value: input.value }));
}
