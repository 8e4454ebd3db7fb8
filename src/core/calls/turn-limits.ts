/** Budgets and time limits of a turn, and the counts that they are compared with. Pure. */
import type { PlannedCall } from '../../protocol/calls/plan.js';
import type { ToolResultError } from '../../protocol/calls/results.js';
import type { Counts, TurnLimit } from '../../protocol/conversation/turns.js';
import { TEXTS } from '../../protocol/failures/texts.js';
import { committed } from '../children/budgets.js';
import type { ConversationState, ModelTurn, TurnState } from '../state/state.js';
import { isStopping } from '../state/state.js';

/** The limit that forbids the next model call, if any. */
export function limitOf(state: ConversationState, turn: ModelTurn): TurnLimit | undefined {
  const { maxSteps, budgets } = state.settings;
  if (turn.step > maxSteps) return 'max_steps';
  const { tokens, cost } = budgets ?? {};
  if (tokens === undefined && cost === undefined) return undefined;
  const used = committed(state, turn);
  if (tokens !== undefined && used.tokens >= tokens) return 'token_budget';
  return cost !== undefined && used.costMicros >= cost.micros ? 'cost_budget' : undefined;
}

export function limitText(state: ConversationState, limit: TurnLimit): string {
  const { maxSteps, budgets } = state.settings;
  switch (limit) {
    case 'max_steps':
      return TEXTS.maxSteps(maxSteps);
    case 'token_budget':
      return TEXTS.tokenBudget(budgets?.tokens ?? 0);
    case 'cost_budget': {
      const { micros = 0, currency = '' } = budgets?.cost ?? {};
      return TEXTS.costBudget(micros / 1_000_000, currency);
    }
    case 'time_budget':
      return TEXTS.timeBudget(budgets?.timeMs ?? 0);
  }
}

/** End of the turn's time, as ISO 8601; undefined where time is not limited. */
export function turnDeadline(state: ConversationState, turn: TurnState): string | undefined {
  const timeMs = state.settings.budgets?.timeMs;
  if (timeMs === undefined || isStopping(turn)) return undefined;
  return new Date(Date.parse(turn.startedAt) + timeMs).toISOString();
}

/** The calls of one model answer; those beyond a limit become errors. */
export function withinBounds(
  state: ConversationState,
  turn: TurnState,
  calls: readonly PlannedCall[],
): readonly PlannedCall[] {
  if (!isCounted(state)) return calls;
  let counted = turn;
  return calls.map((call) => {
    // A call that is not planned yet is counted when it is planned.
    if (call.error !== undefined || call.unplanned !== undefined) return call;
    const error = overBound(state, counted, call);
    if (error !== undefined) return { ...call, error };
    const repeats = lastRepeat(state, counted, call);
    counted = withSpent(counted, call);
    return repeats === undefined ? call : { ...call, repeats };
  });
}

/** How often the call was made, when it is a repetition and the next one would be refused. */
function lastRepeat(
  { settings }: ConversationState,
  { spent }: TurnState,
  call: PlannedCall,
): number | undefined {
  const { repeatLimit } = settings;
  const times = countOf(spent?.byCall ?? {}, callKey(call)) + 1;
  return times > 1 && times + 1 === repeatLimit ? times : undefined;
}

function overBound(
  state: ConversationState,
  turn: TurnState,
  call: PlannedCall,
): ToolResultError | undefined {
  const { budgets, repeatLimit } = state.settings;
  const { byTool = {}, byCall = {} } = turn.spent ?? {};
  const { name } = call;
  if (budgets?.calls !== undefined && committed(state, turn).calls >= budgets.calls)
    return { code: 'too_many_calls', message: TEXTS.callBudget(budgets.calls) };
  const { callsOf = {} } = budgets ?? {};
  const limit = Object.hasOwn(callsOf, name) ? callsOf[name] : undefined;
  if (limit !== undefined && countOf(byTool, name) >= limit)
    return { code: 'too_many_calls', message: TEXTS.callBudgetOf(name, limit) };
  const before = countOf(byCall, callKey(call));
  if (repeatLimit !== undefined && before + 1 >= repeatLimit)
    return { code: 'repeated_call', message: TEXTS.repeatedCall(name, before + 1) };
  return undefined;
}

export function isCounted({ settings }: ConversationState): boolean {
  const { budgets, repeatLimit } = settings;
  return (
    repeatLimit !== undefined || budgets?.calls !== undefined || budgets?.callsOf !== undefined
  );
}

export function withSpent(turn: TurnState, call: PlannedCall): TurnState {
  const { byTool = {}, byCall = {} } = turn.spent ?? {};
  return {
    ...turn,
    spent: { byTool: plusOne(byTool, call.name), byCall: plusOne(byCall, callKey(call)) },
  };
}

function callKey({ name, argsDigest }: PlannedCall): string {
  return `${name} ${argsDigest ?? ''}`;
}

function countOf(counts: Counts, key: string): number {
  return Object.hasOwn(counts, key) ? (counts[key] ?? 0) : 0;
}

function plusOne(counts: Counts, key: string): Counts {
  return { ...counts, [key]: countOf(counts, key) + 1 };
}
