/** When a delivery that failed is tried again. */

/** Attempts of one delivery; with the pauses below they take about three days. */
export const MAX_ATTEMPTS = 13;
const FIRST_PAUSE_MS = 5_000;
const PAUSE_FACTOR = 4;
const MAX_PAUSE_MS = 12 * 3_600_000;
/** Pauses differ by up to a fifth, so that deliveries that failed together do not come back together. */
const JITTER = 0.2;

export interface FailedAttempt {
  /** Which attempt failed, from 1. */
  readonly attempts: number;
  readonly nowMs: number;
  /** Header of the response. */
  readonly retryAfter?: string | undefined;
  /** From 0 up to, but not including, 1. */
  readonly random: number;
}

/** Undefined after the last attempt. `Retry-After` makes a pause longer, never shorter. */
export function retryAtMs({
  attempts,
  nowMs,
  retryAfter,
  random,
}: FailedAttempt): number | undefined {
  if (attempts >= MAX_ATTEMPTS) return undefined;
  const pauseMs = Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * PAUSE_FACTOR ** (attempts - 1));
  const jittered = pauseMs * (1 - JITTER + 2 * JITTER * random);
  const askedMs = Math.min(MAX_PAUSE_MS, retryAfterMs(retryAfter, nowMs) ?? 0);
  return Math.round(nowMs + Math.max(jittered, askedMs));
}

/** Seconds, or a date of HTTP. */
function retryAfterMs(text: string | undefined, nowMs: number): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1_000;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.max(0, at - nowMs);
}
