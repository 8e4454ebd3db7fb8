/**
 * Results of the attempts of a model call, as heartbeats pass them to the next attempt, and failures to the workflow.
 * Runs anywhere.
 */

import { MAX_ATTEMPT_TEXT_CHARS, MAX_FAILED_ATTEMPTS } from '../limits/limits.js';
import { isRecord } from '../values/json.js';
import type { Usage } from './turns.js';

export interface ModelSpend {
  readonly model: string;
  /** The last attempt that used any tokens. */
  readonly attempt: number;
  readonly usage: Usage;
}

/** A request that continues at its provider without a reader; `usage` is the usage until now. */
export interface OpenRequest extends ModelSpend {
  /** The provider's id of the request. */
  readonly id: string;
  /** Fingerprint of the messages that were sent: only an equal request resumes it. Absent: any request does. */
  readonly request?: string;
}

/** A failed attempt of a model call, and the pause planned after it. */
export interface FailedAttempt {
  /** From 1, over all activities of the call. */
  readonly attempt: number;
  readonly model: string;
  /** A code of the failure table; `no_worker` where the attempt was lost with its worker. */
  readonly code: string;
  readonly message: string;
  /** HTTP status of the provider's answer. Absent: there was none, or the attempt failed within the answer. */
  readonly httpStatus?: number;
  /** Milliseconds before the next attempt. Absent: none was planned, or the plan is not known. */
  readonly nextInMs?: number;
}

/** The one value in details of heartbeats and failures; its names are in history for ever. */
export interface ModelCallDetails {
  /** Usage of all attempts until now. */
  readonly spent?: ModelSpend;
  /** The request that the next attempt resumes; not counted in `spent`. */
  readonly open?: OpenRequest;
  /** Oldest first; at most `MAX_FAILED_ATTEMPTS`, the newest. */
  readonly failed?: readonly FailedAttempt[];
  /** Number of attempts until now, for another activity of the same call. */
  readonly attempts?: number;
}

/**
 * Reads details that a worker of any version may have written; never throws. Ignores every field that is not
 * understood.
 */
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
