/** How turns end and what they cost. Runs anywhere. */

export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedInputTokens?: number;
  readonly reasoningTokens?: number;
}

/** Why a turn ended other than by the model's own final message. */
export type TurnEndReason = 'max_steps' | 'model_failed' | 'cancelled' | 'workflow_cancelled';

export interface TurnError {
  readonly code: string;
  readonly message: string;
}
