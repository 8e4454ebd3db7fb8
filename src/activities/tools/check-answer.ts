/** Checks an accepted answer by all of its tool's schema. Has no effects; safe to repeat. */
import type { CheckAnswerInput, CheckAnswerResult } from '../../protocol/workflow/activities.js';
import {
  checkAnswer as check,
  checkForm,
  goneTool,
  isJudgedBy,
} from '../../tools/definition/answers.js';
import type { ActivityTools } from '../shared/deps.js';
import { agentOf } from '../shared/failure.js';
import { withHeartbeat } from '../shared/heartbeat.js';
import { leaveToOthers } from '../shared/other-workers.js';

/**
 * Ends calls of a tool that is gone: unchecked, their answers must not reach the model. An unknown agent is failure
 * `unknown_agent`, retried. The form of a question that a tool's code asked comes along, and needs neither. Where this worker
 * has not the definition that the call was offered with, others are left the first tries; then its own judges.
 */
export async function checkAnswer(
  tools: ActivityTools,
  input: CheckAnswerInput,
): Promise<CheckAnswerResult> {
  const { form } = input;
  if (form !== undefined) return withHeartbeat(() => checkForm(form, input.value));
  const agent = agentOf(tools, input.agent);
  const tool = tools.registry.tool(agent.name, input.name);
  const { value, answerDefinition } = input;
  if (tool === undefined || !isJudgedBy(tool, answerDefinition))
    leaveToOthers('The tool is not defined in this worker as it was when the call was offered');
  if (tool === undefined) return { ok: false, ended: goneTool(input.name) };
  return withHeartbeat(() => check({ tool, value, answerDefinition }));
}
