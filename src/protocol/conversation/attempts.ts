/** What became of the attempts of a model call, as heartbeats tell the next attempt, and failures the workflow. Runs anywhere. */

import { MAX_ATTEMPT_TEXT_CHARS, MAX_FAILED_ATTEMPTS } from '../limits/limits.js';
import { isRecord } from '../values/json.js';
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
  /** Fingerprint of the messages that were sent: only the same request resumes it. Absent: any request does. */
  readonly request?: string;
}

/** An attempt of a model call that came to nothing, and what was to follow. */
export interface FailedAttempt {
  /** From 1, over all activities of the call. */
  readonly attempt: number;
  readonly model: string;
  /** Of the failure table; `no_worker` where nothing is known of it, since its worker was lost. */
  readonly code: string;
  readonly message: string;
  /** What the provider answered. Absent: it did not, or it failed within its answer. */
  readonly httpStatus?: number;
  /** The pause before the next attempt. Absent: there was to be none, or nobody knew. */
  readonly nextInMs?: number;
}

/** The one value in details of heartbeats and failures; its names are in history for ever. */
export interface ModelCallDetails {
  /** Of all attempts until now. */
  readonly spent?: ModelSpend;
  /** No part of `spent`: the next attempt goes on with it. */
  readonly open?: OpenRequest;
  /** Oldest first; at most `MAX_FAILED_ATTEMPTS`, the newest. */
  readonly failed?: readonly FailedAttempt[];
  /** How many attempts there were, for another activity of the same call. */
  readonly attempts?: number;
}

/** Any version of a worker may have written them: what is not understood counts as nothing. */
export function detailsIn(details: unknown): ModelCallDetails {
  if (!isRecord(details)) return {};
  const spent = spendIn(details['spent']);
  const open = spendIn(details['open']);
  const { id, request } = isRecord(details['open']) ? details['open'] : {};
  const { attempts } = details;
  const failed = failedIn(details['failed']);
  const asked = typeof request === 'string' ? { request } : {};
  return {
    ...(spent === undefined ? {} : { spent }),
    ...(open === undefined || typeof id !== 'string' ? {} : { open: { ...open, id, ...asked } }),
    ...(failed.length === 0 ? {} : { failed }),
    ...(isCount(attempts) ? { attempts } : {}),
  };
}

function failedIn(value: unknown): readonly FailedAttempt[] {
  if (!Array.isArray(value)) return [];
  return value.slice(-MAX_FAILED_ATTEMPTS).flatMap((entry: unknown) => {
    if (!isRecord(entry)) return [];
    const { attempt, model, code, message, httpStatus, nextInMs } = entry;
    if (!isCount(attempt) || typeof model !== 'string' || typeof code !== 'string') return [];
    return [
      {
        ...{ attempt, model, code },
        message: typeof message === 'string' ? message.slice(0, MAX_ATTEMPT_TEXT_CHARS) : '',
        ...(isCount(httpStatus) ? { httpStatus } : {}),
        ...(isCount(nextInMs) ? { nextInMs } : {}),
      },
    ];
  });
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
