/** Folds the conversations of sub-agents, and the last turn of one. Pure. */
import type { ChildChanged } from '../../protocol/conversation/children.js';
import type { TurnEnded } from '../../protocol/log/events.js';
import type { ConversationState } from '../state/state.js';
import type { Stamped } from '../state/update.js';
import { withTurn } from '../state/update.js';
import { addUsage } from '../state/usage.js';

export function childChanged(
  state: ConversationState,
  event: Stamped<ChildChanged>,
): ConversationState {
  const { childId, turnId, toolCallId, name, agent, status, granted = {}, outlives } = event;
  const { children = [], ...rest } = state;
  switch (status) {
    case 'starting': {
      const record = { childId, toolCallId, name, agent, turnId, status, granted };
      const own = outlives === undefined ? record : { ...record, outlives };
      return { ...state, children: [...children, own] };
    }
    case 'started':
    case 'stopping':
      return {
        ...state,
        children: children.map((child) =>
          child.childId === childId ? { ...child, status } : child,
        ),
      };
    case 'ended': {
      const left = children.filter((child) => child.childId !== childId);
      const without = left.length === 0 ? rest : { ...rest, children: left };
      return children.length === left.length ? state : withEnd(without, event);
    }
  }
}

/** Counts the spending of a child for its parent: for the turn as well, while that runs. */
function withEnd(state: ConversationState, { turnId, end }: ChildChanged): ConversationState {
  if (end === undefined) return state;
  const { usage, calls } = end;
  const counted = { ...state, usage: addUsage(state.usage, usage) };
  if (state.turn?.turnId !== turnId) return counted;
  return withTurn(counted, (turn) => ({
    ...turn,
    usage: addUsage(turn.usage, usage),
    ...(calls === undefined ? {} : { spentByChildren: (turn.spentByChildren ?? 0) + calls }),
  }));
}

/** Keeps what a sub-agent reports to its parent when it has done its work. `before`: the state with the turn. */
export function withLastTurn(
  before: ConversationState,
  state: ConversationState,
  { turnId, status, text, output, error, reason }: Stamped<TurnEnded>,
): ConversationState {
  if (state.parent === undefined) return state;
  const { turn } = before;
  const calls =
    turn?.turnId === turnId
      ? Object.values(turn.spent?.byTool ?? {}).reduce((sum, count) => sum + count, 0) +
        (turn.spentByChildren ?? 0)
      : 0;
  return {
    ...state,
    lastTurn: {
      // A turn that was ended by a limit has not done its work.
      ...(status === 'completed' && reason !== undefined
        ? { status: 'failed' as const, text, error: { code: reason, message: text } }
        : { status, text }),
      ...(output === undefined ? {} : { output }),
      ...(error === undefined ? {} : { error }),
    },
    ...(calls === 0 ? {} : { spentCalls: (state.spentCalls ?? 0) + calls }),
  };
}
