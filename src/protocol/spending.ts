/** What the attempts of a model call have taken, as heartbeats tell the next attempt, and failures the workflow. Runs anywhere. */
import { isRecord } from './json.js';
import type { Usage } from './turns.js';

export interface ModelSpend {
  readonly model: string;
  /** The last that took anything. */
  readonly attempt: number;
  readonly usage: Usage;
}

/** A request that goes on at its provider, whoever listens; `usage` is what it has taken so far. */
export interface OpenRequest extends ModelSpend {
  /** The provider's. */
  readonly id: string;
  /** Fingerprint of the messages that were sent: only the same request resumes it. Absent in what older workers wrote. */
  readonly request?: string;
}

/** The one value in details of heartbeats and failures; its names are in history for ever. */
export interface ModelCallDetails {
  /** Of all attempts until now. */
  readonly spent?: ModelSpend;
  /** No part of `spent`: the next attempt goes on with it. */
  readonly open?: OpenRequest;
}

/** Any version of a worker may have written them: what is not understood counts as nothing. */
export function detailsIn(details: unknown): ModelCallDetails {
  if (!isRecord(details)) return {};
  const spent = spendIn(details['spent']);
  const open = spendIn(details['open']);
  const { id, request } = isRecord(details['open']) ? details['open'] : {};
  const asked = typeof request === 'string' ? { request } : {};
  return {
    ...(spent === undefined ? {} : { spent }),
    ...(open === undefined || typeof id !== 'string' ? {} : { open: { ...open, id, ...asked } }),
  };
}

function spendIn(value: unknown): ModelSpend | undefined {
  if (!isRecord(value)) return undefined;
  const { model, attempt } = value;
  const usage = usageIn(value['usage']);
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
