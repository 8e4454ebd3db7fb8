/**
 * The bounds of a turn: steps, tokens, cost, time, tool calls, repeats; and failures that end it. Pure.
 *
 * L1  A bound is looked at before the spend: the model call or tool call that would go over it is not made.
 * L2  A turn that is ended by a bound ends with a message that names it, and with one result for every call.
 */
import type { EventBody } from '../protocol/events.js';
import { assistantMessageId } from '../protocol/live-events.js';
import { TEXTS } from '../protocol/texts.js';
import type { PlannedCall, ToolResult, ToolResultError } from '../protocol/tools.js';
import type { Counts, TurnLimit } from '../protocol/turns.js';
import { turnEndedEvent } from './event-bodies.js';
import { withTurn } from './fold.js';
import type { ConversationState, TurnState } from './state.js';

/** The bound that forbids the next model call, if any. */
export function limitOf(state: ConversationState, turn: TurnState): TurnLimit | undefined {
  const { maxSteps, budgets } = state.settings;
  if (turn.stop !== undefined) return turn.stop;
  if (turn.step > maxSteps) return 'max_steps';
  const { inputTokens, outputTokens, costMicros = 0 } = turn.usage;
  const { tokens, cost } = budgets ?? {};
  if (tokens !== undefined && inputTokens + outputTokens >= tokens) return 'token_budget';
  return cost !== undefined && costMicros >= cost.micros ? 'cost_budget' : undefined;
}

function limitText(state: ConversationState, limit: TurnLimit): string {
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

/** The turn may not go on: the engine says so in the model's place. Calls that are open have been ended before. */
export function limitEvents(
  state: ConversationState,
  turn: TurnState,
  limit: TurnLimit,
): readonly EventBody[] {
  const { turnId, step } = turn;
  const text = limitText(state, limit);
  // A model call that was cut off has spoken under this step's id already.
  const messageId = turn.stop === undefined ? assistantMessageId(turnId, step) : `${turnId}.limit`;
  return [
    {
      type: 'assistant_message',
      turnId,
      step,
      messageId,
      parts: [{ type: 'text', text }],
      synthetic: true,
    },
    {
      ...turnEndedEvent(turn, { status: 'completed', reason: limit }),
      text,
      // A step that was due, and not taken, does not count.
      steps: turn.stop === undefined ? step - 1 : step,
    },
  ];
}

/** When the turn's time is over: ISO 8601. Undefined where time is not bounded. */
export function turnDeadline(state: ConversationState, turn: TurnState): string | undefined {
  const timeMs = state.settings.budgets?.timeMs;
  if (timeMs === undefined || turn.stop !== undefined || turn.cancel !== undefined)
    return undefined;
  return new Date(Date.parse(turn.startedAt) + timeMs).toISOString();
}

/** The calls of one model answer, those that are past a bound as errors. */
export function withinBounds(
  state: ConversationState,
  turn: TurnState,
  calls: readonly PlannedCall[],
): readonly PlannedCall[] {
  if (!isCounted(state)) return calls;
  let counted = turn;
  return calls.map((call) => {
    // One whose turn has not come is looked at then.
    if (call.error !== undefined || call.unplanned !== undefined) return call;
    const error = overBound(state, counted, call);
    if (error !== undefined) return { ...call, error };
    const repeats = lastRepeat(state, counted, call);
    counted = withSpent(counted, call);
    return repeats === undefined ? call : { ...call, repeats };
  });
}

/** How often the call was made, when it is a repetition and the next one will not run. */
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
  { settings }: ConversationState,
  turn: TurnState,
  call: PlannedCall,
): ToolResultError | undefined {
  const { budgets, repeatLimit } = settings;
  const { byTool = {}, byCall = {} } = turn.spent ?? {};
  const { name } = call;
  const all = Object.values(byTool).reduce((sum, count) => sum + count, 0);
  if (budgets?.calls !== undefined && all >= budgets.calls)
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

/** Notes a call that was let run, where a bound needs to know. */
export function countCall(state: ConversationState, call: PlannedCall): ConversationState {
  const { error, unplanned } = call;
  if (error !== undefined || unplanned !== undefined || !isCounted(state)) return state;
  return withTurn(state, (turn) => withSpent(turn, call));
}

function isCounted({ settings }: ConversationState): boolean {
  const { budgets, repeatLimit } = settings;
  return (
    repeatLimit !== undefined || budgets?.calls !== undefined || budgets?.callsOf !== undefined
  );
}

function withSpent(turn: TurnState, call: PlannedCall): TurnState {
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

/** Notes a result that ends the turn, where the agent wants that: a failed tool, or one that it does not have. */
export function withFailure(
  state: ConversationState,
  name: string,
  { status, envelope }: ToolResult,
): ConversationState {
  const { onToolError, onUnknownTool } = state.settings;
  if (status !== 'errored' || envelope.ok) return state;
  const { error } = envelope;
  // Like a denial: a person has decided, and no tool has failed.
  if (error.code === 'declined') return state;
  const isFatal =
    error.code === 'unknown_tool' ? onUnknownTool === 'abort_turn' : onToolError === 'abort_turn';
  if (!isFatal) return state;
  return withTurn(state, (turn) => ({ ...turn, failure: turn.failure ?? { name, error } }));
}

/** The turn ends because of a tool. Calls that are open have been ended before. */
export function toolFailedEvent(turn: TurnState): EventBody {
  const { name = '', error } = turn.failure ?? {};
  return turnEndedEvent(turn, {
    status: 'failed',
    reason: 'tool_failed',
    error: { code: error?.code ?? 'tool_error', message: `${name}: ${error?.message ?? ''}` },
  });
}
