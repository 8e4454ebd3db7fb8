/**
 * Budgets of sub-agents. A turn grants each of them a part of what it has left, and keeps that part reserved until the
 * sub-agent has ended; what was not spent comes back. Pure.
 */
import type { ChildBudgets } from '../../protocol/calls/plan.js';
import type { Usage } from '../../protocol/conversation/turns.js';
import type { CallState } from '../state/calls.js';
import type { ConversationState, TurnState } from '../state/state.js';
import { isSince, stepCalls } from '../state/state.js';
import { NO_USAGE } from '../state/usage.js';

const COUNTS = ['tokens', 'costMicros', 'calls'] as const;
type Count = (typeof COUNTS)[number];

/** Everything that a turn has spent, and what its sub-agents may still spend. */
export function committed(
  state: ConversationState,
  turn: TurnState | undefined,
  turnId = turn?.turnId,
): Record<Count, number> {
  const isWhole = state.parent !== undefined && isSince(state, 2);
  const sum = spentBy(state, turn);
  for (const child of state.children ?? []) {
    if (child.turnId !== turnId && !isWhole) continue;
    for (const count of COUNTS) sum[count] += child.granted[count] ?? 0;
  }
  return sum;
}

/** A sub-agent is bounded as a whole: earlier turns of its conversation count as well. */
function spentBy(state: ConversationState, turn: TurnState | undefined): Record<Count, number> {
  const { usage = NO_USAGE } = state.parent === undefined ? (turn ?? {}) : state;
  const byTool = Object.values(turn?.spent?.byTool ?? {}).reduce((all, one) => all + one, 0);
  const calls = byTool + (turn?.spentByChildren ?? 0) + (state.spentCalls ?? 0);
  return { tokens: tokensOf(usage), costMicros: usage.costMicros ?? 0, calls };
}

export function tokensOf({ inputTokens, outputTokens }: Usage): number {
  return inputTokens + outputTokens;
}

/**
 * The most that the sub-agent of a call may spend: what its tool sets, and no more than its share of what the turn has
 * left. The sub-agents of a step that have not begun yet and the turn itself have equal shares.
 */
export function grantFor(state: ConversationState, call: CallState, nowMs: number): ChildBudgets {
  const own = call.plan.subAgent?.budgets ?? {};
  const turn = state.turn?.turnId === call.turnId ? state.turn : undefined;
  if (turn === undefined && !isSince(state, 2)) return own;
  const { tokens, cost, calls: most, timeMs } = state.settings.budgets ?? {};
  const limits = { tokens, costMicros: cost?.micros, calls: most };
  const spender = turn ?? (state.parent === undefined ? undefined : state.turn);
  const used = committed(state, spender, call.turnId);
  const spends = turn !== undefined || state.parent !== undefined;
  const calls = turn === undefined ? Object.values(state.calls) : stepCalls(state);
  const shares = Math.max(1, notBegun(calls, call.turnId)) + (spends ? 1 : 0);
  const granted: { -readonly [Field in keyof ChildBudgets]: ChildBudgets[Field] } = {};
  for (const count of COUNTS) {
    const limit = limits[count];
    const share =
      limit === undefined ? undefined : Math.max(0, Math.floor((limit - used[count]) / shares));
    const least = lesser(share, own[count]);
    if (least !== undefined) granted[count] = least;
  }
  const startMs = turn === undefined ? nowMs : Date.parse(turn.startedAt);
  const leftMs = timeMs === undefined ? undefined : Math.max(0, startMs + timeMs - nowMs);
  const least = lesser(leftMs, own.timeMs);
  return least === undefined ? granted : { ...granted, timeMs: least };
}

/** Whether a sub-agent with these budgets could not make a single model call. */
export function isNothing({ tokens, costMicros, timeMs }: ChildBudgets): boolean {
  return [tokens, costMicros, timeMs].includes(0);
}

/** The number of calls of a turn whose sub-agents have not begun. */
function notBegun(calls: readonly CallState[], ofTurn: string): number {
  return calls.filter(
    ({ plan, suspension, result, turnId }) =>
      turnId === ofTurn &&
      plan.subAgent !== undefined &&
      suspension?.childId === undefined &&
      result === undefined,
  ).length;
}

function lesser(left: number | undefined, right: number | undefined): number | undefined {
  if (left === undefined || right === undefined) return left ?? right;
  return Math.min(left, right);
}
