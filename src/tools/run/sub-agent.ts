/** The first message of a sub-agent's conversation, and the bounds of its agent. Runs in the worker. */
import { type AnyAgent, manifestOf } from '../../define/define-agent.js';
import { inputJsonSchema } from '../../define/schemas/schema.js';
import type { AnyTool } from '../../define/tool/types.js';
import type { ChildBudgets } from '../../protocol/calls/plan.js';
import type { ToolResultError } from '../../protocol/calls/results.js';
import type { AgentManifest, AgentSettings } from '../../protocol/conversation/agents.js';
import type { SendMessageInput } from '../../protocol/conversation/conversation.js';
import type { TurnBudgets } from '../../protocol/conversation/turns.js';
import { TEXTS } from '../../protocol/failures/texts.js';
import type { StartChildInput, StartChildResult } from '../../protocol/workflow/activities.js';
import { messageOf } from '../shared/message-of.js';

export type FirstMessage =
  | { readonly input: SendMessageInput }
  | { readonly refused: StartChildResult };

/** The message by the tool's code; an error of the call where that throws, or returns no text. Never throws. */
export function firstMessage(
  { subAgent, output }: AnyTool,
  { input, requester, toolCallId, name }: StartChildInput,
): FirstMessage {
  const failed = (problem: string): FirstMessage => ({
    refused: notStarted({ code: 'tool_error', message: TEXTS.toolError(name, problem) }),
  });
  if (subAgent === undefined || requester === undefined) return failed('no sub-agent runs it');
  try {
    const text: unknown = subAgent.message(input);
    if (typeof text !== 'string' || text.trim() === '')
      return failed('its message for the sub-agent is not a text, or is empty');
    const form = output === undefined ? {} : { output: inputJsonSchema(output).jsonSchema };
    return { input: { text, requestId: `sub-agent:${toolCallId}`, actor: requester, ...form } };
  } catch (error) {
    return failed(messageOf(error));
  }
}

/** The agent with its own bounds, and those that its parent grants where they are lower. */
export function boundedManifest(agent: AnyAgent, granted: ChildBudgets): AgentManifest {
  const manifest = manifestOf(agent);
  const { settings } = manifest;
  const { budgets = {} } = settings;
  const { costMicros } = granted;
  const currency = manifest.currency ?? budgets.cost?.currency ?? 'USD';
  const cost =
    costMicros === undefined
      ? budgets.cost
      : { micros: Math.min(costMicros, budgets.cost?.micros ?? costMicros), currency };
  const counts = (['tokens', 'timeMs', 'calls'] as const).flatMap((bound) => {
    const least = Math.min(granted[bound] ?? Infinity, budgets[bound] ?? Infinity);
    return Number.isFinite(least) ? [[bound, least] as const] : [];
  });
  const bounded: TurnBudgets = {
    ...budgets,
    ...Object.fromEntries(counts),
    ...(cost === undefined ? {} : { cost }),
  };
  const isUnbounded = Object.keys(bounded).length === 0;
  const own: AgentSettings = isUnbounded ? settings : { ...settings, budgets: bounded };
  return { ...manifest, settings: own };
}

export function notStarted(error: ToolResultError): StartChildResult {
  return { started: false, error };
}
