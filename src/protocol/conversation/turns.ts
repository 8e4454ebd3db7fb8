/** Ends and costs of turns. Runs anywhere. */

export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedInputTokens?: number;
  readonly reasoningTokens?: number;
  /**
   * Millionths of a unit of the currency of the model's prices, at the prices of the time of the call. Absent where the
   * model has no prices; for several calls, the sum over those with prices.
   */
  readonly costMicros?: number;
  /**
   * Present when the engine counted a part, because the provider could not report the usage of an attempt that was cut,
   * stopped or lost with its worker. For such an attempt `inputTokens` are those of its prompt, `outputTokens` those of
   * the streamed text.
   */
  readonly estimated?: true;
}

/** The reason why a turn ended other than by the model's own final message. */
export type TurnEndReason =
  | TurnLimit
  | 'model_failed'
  | 'tool_failed'
  | 'cancelled'
  | 'workflow_cancelled'
  /** The turn goes on in the conversation that this one was forked from, and not here. */
  | 'forked';

/** A bound at which the engine ends a turn, with a last message that names it. */
export type TurnLimit = 'max_steps' | 'token_budget' | 'cost_budget' | 'time_budget';

/** The most that one turn may spend. Enforced before the spend: a call that would go over is not made. */
export interface TurnBudgets {
  /** Tokens of all model calls, input and output: once they are used up, no further call is made. */
  readonly tokens?: number;
  /** The same by cost: see `Usage.costMicros`. */
  readonly cost?: { readonly micros: number; readonly currency: string };
  /** Milliseconds from the turn's start, waits for people included. Calls that run then are stopped. */
  readonly timeMs?: number;
  /** Tool calls in all; those beyond get an error result. */
  readonly calls?: number;
  /** The same for single tools, by name. */
  readonly callsOf?: Readonly<Record<string, number>>;
}

/** Numbers of occurrences by name. */
export type Counts = Readonly<Record<string, number>>;

/** Numbers of the calls of a turn that were allowed to run: by tool, and by tool and arguments. */
export interface SpentCalls {
  readonly byTool: Counts;
  readonly byCall: Counts;
}

export interface TurnError {
  readonly code: string;
  readonly message: string;
}
