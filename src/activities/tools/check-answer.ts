/** Checks an accepted answer by the whole schema of its tool. Has no effects; safe to repeat. */
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
 * Ends calls of a tool that no longer exists: unchecked, their answers must not reach the model. An unknown agent is
 * failure `unknown_agent`, retried. The form of a question that a tool's code asked is in the input, and needs neither.
 * When this worker lacks the definition that the call was offered with, the first attempts are left to others; then its
 * own definition judges.
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
