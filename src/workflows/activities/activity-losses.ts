/**
 * Translates the final failure of an activity into the terms of the core. Anything but a `TemporalFailure` is a bug and
 * is rethrown.
 */
import { TimeoutType } from '@temporalio/common';
import {
  ActivityFailure,
  ApplicationFailure,
  TemporalFailure,
  TimeoutFailure,
} from '@temporalio/workflow';
import type { Loss } from '../../core/calls/results.js';
import { detailsIn, type ModelCallDetails } from '../../protocol/conversation/attempts.js';
import type { TurnError } from '../../protocol/conversation/turns.js';
import { isFailureCode } from '../../protocol/failures/failures.js';
import { TRANSCRIPT_MISS } from '../../protocol/workflow/transcript-delta.js';

/** The failure as a code and a message of the failure table. A timeout is `no_worker`. */
export function turnErrorOf(error: unknown): TurnError {
  const cause = activityCause(error);
  if (cause instanceof ApplicationFailure)
    return {
      code: isFailureCode(cause.type) ? cause.type : 'internal',
      message: cause.message.slice(0, 1_000),
    };
  const { message } = lossOf(error);
  return { code: 'no_worker', message };
}

/**
 * Returns the details that the attempts of a failed model call reported: from the last heartbeat or from the failure.
 */
export function modelDetailsOf(error: unknown): ModelCallDetails {
  const cause = activityCause(error);
  if (cause instanceof TimeoutFailure) return detailsIn(cause.lastHeartbeatDetails);
  return cause instanceof ApplicationFailure ? detailsIn(cause.details?.[0]) : {};
}

export function isTranscriptMiss(error: unknown): boolean {
  const cause = activityCause(error);
  return cause instanceof ApplicationFailure && cause.type === TRANSCRIPT_MISS;
}

export function lossOf(error: unknown): Loss {
  const cause = activityCause(error);
  if (!(cause instanceof TimeoutFailure)) {
    const code = cause instanceof ApplicationFailure ? cause.type : undefined;
    const message = cause.message.slice(0, 1_000);
    return { timedOut: false, message, ...(typeof code === 'string' ? { code } : {}) };
  }
  const { timeoutType } = cause;
  return {
    timedOut: timeoutType === TimeoutType.START_TO_CLOSE,
    neverStarted: timeoutType === TimeoutType.SCHEDULE_TO_START,
    message: timeoutType === TimeoutType.HEARTBEAT ? 'the worker was lost' : 'the time ran out',
  };
}

function activityCause(error: unknown): Error {
  if (!(error instanceof TemporalFailure)) throw error;
  return error instanceof ActivityFailure && error.cause !== undefined ? error.cause : error;
}
