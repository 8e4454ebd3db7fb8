/** What the attempts of a model call have taken, as heartbeats tell the next attempt, and failures the workflow. Runs anywhere. */
import { isRecord } from './json.js';
import type { Usage } from './turns.js';

/** Of all attempts until now. */
export interface ModelSpend {
  readonly model: string;
  /** The last that took anything. */
  readonly attempt: number;
  readonly usage: Usage;
}

/** The one value in details of heartbeats and failures; its names are in history for ever. */
export interface ModelCallDetails {
  readonly spent?: ModelSpend;
}

/** Any version of a worker may have written them: what is not understood counts as nothing. */
export function spendIn(details: unknown): ModelSpend | undefined {
  const spent = isRecord(details) ? details['spent'] : undefined;
  if (!isRecord(spent)) return undefined;
  const { model, attempt } = spent;
  const usage = usageIn(spent['usage']);
  if (typeof model !== 'string' || !isCount(attempt) || usage === undefined) return undefined;
  return { model, attempt, usage };
}

function usageIn(value: unknown): Usage | undefined {
  if (!isRecord(value)) return undefined;
  const { inputTokens, outputTokens, cachedInputTokens, reasoningTokens, costMicros } = value;
  if (!isCount(inputTokens) || !isCount(outputTokens)) return undefined;
  return {
    inputTokens,
    outputTokens,
    ...(isCount(cachedInputTokens) ? { cachedInputTokens } : {}),
    ...(isCount(reasoningTokens) ? { reasoningTokens } : {}),
    ...(isCount(costMicros) ? { costMicros } : {}),
    ...(value['estimated'] === true ? { estimated: true } : {}),
  };
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}
