/** The conversations of sub-agents that a conversation has begun, and its own end as one. Pure. */
import type { ToolResultError } from '../../protocol/calls/results.js';
import type { ChildEnd } from '../../protocol/conversation/children.js';
import { TEXTS } from '../../protocol/failures/texts.js';
import { MAX_CHILD_DEPTH, MAX_OPEN_CHILDREN } from '../../protocol/limits/limits.js';
import type { CallState } from '../state/calls.js';
import { hasEnded } from '../state/calls.js';
import type { ChildRecord } from '../state/children.js';
import type { ConversationState } from '../state/state.js';
import { callOf } from '../state/state.js';

export function childOf(
  { children = [] }: ConversationState,
  childId: string,
): ChildRecord | undefined {
  return children.find((child) => child.childId === childId);
}

/** The call of a child, while its result is still wanted: it waits, or has expired and takes a late result. */
export function openCallOf(
  state: ConversationState,
  { toolCallId, childId }: Pick<ChildRecord, 'toolCallId' | 'childId'>,
): CallState | undefined {
  const call = callOf(state, toolCallId);
  if (call === undefined) return undefined;
  const isLate = call.background === 'late' && call.closedWait.childId === childId;
  return isLate || (!hasEnded(call) && call.suspension?.childId === childId) ? call : undefined;
}

/** The children that run although no call wants their result any more. */
export function orphans(state: ConversationState): readonly ChildRecord[] {
  return (state.children ?? []).filter(
    (child) => child.status === 'started' && openCallOf(state, child) === undefined,
  );
}

/** The children whose work is wanted. One that was terminated while it was being closed never reports. */
function atWork({ children = [] }: ConversationState): readonly ChildRecord[] {
  return children.filter(({ status }) => status !== 'stopping');
}

/** The children that a conversation takes along when it closes. */
export function childrenToClose({ children = [] }: ConversationState): readonly ChildRecord[] {
  return children.filter(({ outlives }) => outlives !== true);
}

/** Why no further sub-agent may begin for the call; undefined when one may. */
export function childProblem(state: ConversationState): ToolResultError | undefined {
  const { parent, settings } = state;
  const { maxDepth = MAX_CHILD_DEPTH, maxOpen = MAX_OPEN_CHILDREN } = settings.subAgents ?? {};
  if ((parent?.path.length ?? 0) >= maxDepth)
    return { code: 'too_many_calls', message: TEXTS.tooDeep(maxDepth) };
  if (atWork(state).length >= maxOpen)
    return { code: 'too_many_calls', message: TEXTS.tooManyChildren(maxOpen) };
  return undefined;
}

/**
 * Whether this conversation runs a call of another one (only such a one keeps its last turn), and has done its work.
 * Asked where no turn runs and no message waits; events may still wait for a turn that is held back.
 */
export function isDone(state: ConversationState): boolean {
  const { lastTurn, inbox, calls } = state;
  if (lastTurn === undefined || inbox !== undefined) return false;
  const works = Object.values(calls).some(({ background }) => background === 'detached');
  return !works && atWork(state).length === 0;
}

/** The report of a closed conversation to its parent. */
export function endOf({ lastTurn, usage, settings, spentCalls = 0 }: ConversationState): ChildEnd {
  return {
    ...(lastTurn ?? { status: 'cancelled', text: '' }),
    usage,
    ...(settings.budgets?.calls === undefined ? {} : { calls: spentCalls }),
  };
}
