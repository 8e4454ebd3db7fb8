/** Events of the conversations of sub-agents: begun, started, ended. Pure. */
import type { ToolResult, ToolResultError } from '../../protocol/calls/results.js';
import {
  type ChildChanged,
  type ChildEnd,
  childIdFor,
} from '../../protocol/conversation/children.js';
import { TEXTS } from '../../protocol/failures/texts.js';
import type { EventBody } from '../../protocol/log/events.js';
import { errorResult } from '../calls/results.js';
import { grantFor, isNothing } from '../children/budgets.js';
import { childProblem, openCallOf } from '../children/children.js';
import type { CallState } from '../state/calls.js';
import type { ChildRecord } from '../state/children.js';
import type { ConversationState } from '../state/state.js';
import { resultEvent } from './results.js';
import { suspensionEvent } from './suspension.js';

/** The wait of a call that a sub-agent runs: it begins together with the conversation of that agent. */
export function childBegunEvents(
  state: ConversationState,
  call: CallState,
  nowMs: number,
): readonly EventBody[] {
  const { plan, turnId, suspension: _none } = call;
  const { subAgent, toolCallId, name } = plan;
  if (subAgent === undefined) return [];
  const granted = grantFor(state, call, nowMs);
  const nothing = { code: 'too_many_calls', message: TEXTS.noBudgetForChild } as const;
  const problem = childProblem(state) ?? (isNothing(granted) ? nothing : undefined);
  if (problem !== undefined) return [resultEvent(call, errorResult('errored', problem))];
  const fork = state.origin === undefined ? undefined : state.conversationId;
  const childId = childIdFor({ turnId, step: call.step, toolCallId, fork });
  const { suspension } = suspensionEvent(call, 'external_execution', nowMs);
  return [
    { type: 'suspension', suspension: { ...suspension, childId } },
    {
      type: 'child_changed',
      ...{ turnId, toolCallId, name, agent: subAgent.agent, childId },
      status: 'starting',
      granted,
      ...(subAgent.outlives === true ? { outlives: true as const } : {}),
    },
  ];
}

export function childIs(child: ChildRecord, status: 'started' | 'stopping'): ChildChanged {
  return { ...aboutChild(child), status };
}

/** The end of a child, and the result of its call where that is still wanted. */
export function childEndedEvents(
  state: ConversationState,
  child: ChildRecord,
  end: ChildEnd | undefined,
): readonly EventBody[] {
  const { status, usage, calls } = end ?? {};
  const known =
    status === undefined || usage === undefined
      ? {}
      : { end: { status, usage, ...(calls === undefined ? {} : { calls }) } };
  const ended: ChildChanged = { ...aboutChild(child), status: 'ended', ...known };
  const call = openCallOf(state, child);
  if (call === undefined) return [ended];
  return [ended, resultEvent(call, end === undefined ? stopped(child) : resultOf(child, end))];
}

/** The end of a child that could not be started. */
export function childNotStartedEvents(
  state: ConversationState,
  child: ChildRecord,
  error: ToolResultError,
): readonly EventBody[] {
  const call = openCallOf(state, child);
  return [
    { ...aboutChild(child), status: 'ended' },
    ...(call === undefined ? [] : [resultEvent(call, errorResult('errored', error))]),
  ];
}

/** The child may run although its start was lost. Its call fails, so that it is stopped. */
export function childLostEvents(
  state: ConversationState,
  child: ChildRecord,
  message: string,
): readonly EventBody[] {
  const call = openCallOf(state, child);
  const error = { code: 'tool_crashed', message: TEXTS.toolCrashed(message) } as const;
  return [
    childIs(child, 'started'),
    ...(call === undefined ? [] : [resultEvent(call, errorResult('errored', error))]),
  ];
}

function aboutChild({ turnId, toolCallId, name, agent, childId }: ChildRecord) {
  return { type: 'child_changed', turnId, toolCallId, name, agent, childId } as const;
}

/** Like an answer from outside: a sub-agent may repeat what others have written. */
function resultOf(child: ChildRecord, end: ChildEnd): ToolResult {
  const { status, text, output, error } = end;
  if (status === 'cancelled') return stopped(child);
  const problem = error?.message ?? '';
  const result: ToolResult =
    status === 'completed'
      ? {
          status: 'resolved',
          envelope: { ok: true, result: output ?? text },
          provenance: 'trusted',
        }
      : errorResult('errored', {
          code: 'external_error',
          message: TEXTS.childFailed(child.agent, problem),
        });
  return { ...result, provenance: 'untrusted' };
}

function stopped({ agent }: ChildRecord): ToolResult {
  return errorResult('errored', { code: 'cancelled', message: TEXTS.childCancelled(agent) });
}
