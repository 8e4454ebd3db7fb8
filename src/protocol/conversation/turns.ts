/** How turns end and what they cost. Runs anywhere. */

export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedInputTokens?: number;
  readonly reasoningTokens?: number;
  /**
   * Millionths of a unit of the currency of the model's prices, as they were when the call was made. Absent where the model has no
   * prices; of several calls, the sum over those that had them.
   */
  readonly costMicros?: number;
  /**
   * Some of it was counted by the engine: the provider did not get to say what an attempt took that was cut, stopped or lost with
   * its worker. Of such an attempt `inputTokens` are those of its prompt, `outputTokens` those of what had streamed.
   */
  readonly estimated?: true;
}

/** Why a turn ended other than by the model's own final message. */
export type TurnEndReason =
  | TurnLimit
  | 'model_failed'
  | 'tool_failed'
  | 'cancelled'
  | 'workflow_cancelled';

/** A bound that the engine ends a turn at, with a last message that names it. */
export type TurnLimit = 'max_steps' | 'token_budget' | 'cost_budget' | 'time_budget';

/** What one turn may spend. Enforced before the spend: the call that would go over is not made. */
export interface TurnBudgets {
  /** Tokens of all model calls, input and output: once they are used up, no further call is made. */
  readonly tokens?: number;
  /** The same by what they cost: see `Usage.costMicros`. */
  readonly cost?: { readonly micros: number; readonly currency: string };
  /** Milliseconds from the turn's start, waits for people included. What runs then is stopped. */
  readonly timeMs?: number;
  /** Tool calls in all; those past it get an error result. */
  readonly calls?: number;
  /** The same by the name of a tool. */
  readonly callsOf?: Readonly<Record<string, number>>;
}

/** How often names occur. */
export type Counts = Readonly<Record<string, number>>;

/** Calls of a turn that were let run: by tool, and by tool and arguments. */
export interface SpentCalls {
  readonly byTool: Counts;
  readonly byCall: Counts;
}

export interface TurnError {
  readonly code: string;
  readonly message: string;
}
