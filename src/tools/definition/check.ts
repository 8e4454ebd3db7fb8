/**
 * Judges a call by the definition of its tool that this worker has, and migrates it if the author provides `migrate`.
 * Runs in the worker.
 */

import type { AnyTool } from '../../define/tool/types.js';
import type {
  AnswerOffer,
  CheckDefinitionInput,
  CheckDefinitionResult,
} from '../../protocol/calls/definitions.js';
import { TEXTS } from '../../protocol/failures/texts.js';
import type { PolicyQuestion } from '../shared/policy.js';
import { definitionOf } from './digest.js';
import { judgeInput } from './judge.js';
import { migrateCall } from './migrate.js';

export interface DefinitionQuestion extends Omit<PolicyQuestion, 'input' | 'toolCallId'> {
  readonly call: CheckDefinitionInput['call'];
  readonly signal: AbortSignal;
}

/**
 * | the tool as it is now | outcome |
 * |---|---|
 * | has the definition that the plan pins, or parses the raw arguments to the same input | `same` |
 * | is run by another executor | `ended`: `definition_changed` |
 * | has a `migrate` that carries the call over | `migrated` |
 * | has none, or one that cannot | `ended`: `definition_changed`, or the policies' decision on the new input |
 *
 * @throws the reason of `signal` once that fires.
 */
export async function checkCall(question: DefinitionQuestion): Promise<CheckDefinitionResult> {
  const { agent, tool, call, deps, signal } = question;
  const judged = await judgeInput(tool, call);
  if (judged.runs) return { outcome: 'same' };
  const { definition, problem } = judged;
  if (tool.executor !== call.executor) {
    const message = TEXTS.definitionChanged(tool.name, problem);
    return { outcome: 'ended', definition, error: { code: 'definition_changed', message } };
  }
  const { toolCallId, raw = call.input, definition: from = '' } = call;
  const migrated = await migrateCall({
    ...{ agent, tool, toolCallId, deps, raw, from, problem, signal },
  });
  return 'error' in migrated
    ? { outcome: 'ended', definition, error: migrated.error }
    : { outcome: 'migrated', definition, call: migrated };
}

/** How this worker would offer a call of the tool; undefined for tools that do not wait for an answer. */
export function offerOf(tool: AnyTool): AnswerOffer | undefined {
  const { answer, onExpireDefault } = tool;
  const { answerDefinition } = definitionOf(tool);
  if (answer === undefined || answerDefinition === undefined) return undefined;
  return {
    definition: answerDefinition,
    ...(answer.schema === undefined ? {} : { answerSchema: answer.schema }),
    ...(answer.recheck ? { recheckAnswer: true as const } : {}),
    ...(answer.recheckOnly === undefined ? {} : { recheckOnly: answer.recheckOnly }),
    ...(onExpireDefault === undefined ? {} : { onExpireDefault }),
  };
}
