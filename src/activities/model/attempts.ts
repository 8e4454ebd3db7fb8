/**
 * Counts the attempts of one model call over all of its activities, and keeps why earlier ones failed. Heartbeats pass
 * this to the next attempt, the outcome passes it to the workflow.
 */
import { Context } from '@temporalio/activity';
import type { ApplicationFailure } from '@temporalio/common';
import {
  detailsIn,
  type FailedAttempt,
  type ModelCallDetails,
} from '../../protocol/conversation/attempts.js';
import { MAX_ATTEMPT_TEXT_CHARS, MAX_FAILED_ATTEMPTS } from '../../protocol/limits/limits.js';

const LOST = 'Nothing is known of it: its worker was lost';

export class Attempts {
  /** Number of this attempt, from 1. */
  readonly number: number;
  readonly #context = Context.current();
  readonly #model: string;
  #failed: readonly FailedAttempt[];

  /** @param before The details that another activity left behind for the same call. */
  constructor(model: string, before: ModelCallDetails) {
    const { info } = this.#context;
    const { attempts = 0 } = before;
    this.#model = model;
    this.number = attempts + info.attempt;
    const reported = detailsIn(info.heartbeatDetails).failed ?? before.failed ?? [];
    this.#failed = this.#withLost(reported, attempts);
  }

  /** Failed attempts, oldest first. */
  get failed(): readonly FailedAttempt[] {
    return this.#failed;
  }

  /** The details for heartbeats. */
  details(): Pick<ModelCallDetails, 'failed'> {
    return this.#failed.length === 0 ? {} : { failed: this.#failed };
  }

  /** Records the failure of this attempt. `httpStatus`: the status of the provider's response. */
  fail(failure: ApplicationFailure, httpStatus: number | undefined): FailedAttempt {
    const nextInMs = this.isFinal(failure) ? undefined : this.#pauseMs(failure);
    const failed: FailedAttempt = {
      ...{ attempt: this.number, model: this.#model, code: failure.type ?? 'internal' },
      message: failure.message.slice(0, MAX_ATTEMPT_TEXT_CHARS),
      ...(httpStatus === undefined ? {} : { httpStatus }),
      ...(nextInMs === undefined ? {} : { nextInMs }),
    };
    this.#failed = [...this.#failed, failed].slice(-MAX_FAILED_ATTEMPTS);
    return failed;
  }

  /** True when no attempt follows. */
  isFinal(failure: ApplicationFailure): boolean {
    const { attempt, retryPolicy } = this.#context.info;
    const attempts = retryPolicy?.maximumAttempts ?? 0;
    return failure.nonRetryable === true || (attempts > 0 && attempt >= attempts);
  }

  /** Adds the attempts of this activity that reported nothing: their workers died. */
  #withLost(reported: readonly FailedAttempt[], before: number): readonly FailedAttempt[] {
    const known = new Set(reported.map(({ attempt }) => attempt));
    const all = [...reported];
    for (let attempt = before + 1; attempt < this.number; attempt += 1)
      if (!known.has(attempt))
        all.push({ attempt, model: this.#model, code: 'no_worker', message: LOST });
    return all.sort((left, right) => left.attempt - right.attempt).slice(-MAX_FAILED_ATTEMPTS);
  }

  /** The delay that the failure requests, else Temporal's own; undefined when it is not known. */
  #pauseMs({ nextRetryDelay }: ApplicationFailure): number | undefined {
    if (typeof nextRetryDelay === 'number') return nextRetryDelay;
    const { attempt, retryPolicy = {} } = this.#context.info;
    const { initialInterval, backoffCoefficient = 2, maximumInterval } = retryPolicy;
    if (typeof initialInterval !== 'number') return undefined;
    const pauseMs = initialInterval * backoffCoefficient ** (attempt - 1);
    return Math.round(
      typeof maximumInterval === 'number' ? Math.min(pauseMs, maximumInterval) : pauseMs,
    );
  }
}
