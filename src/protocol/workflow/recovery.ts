/**
 * What a run that was reset is given of the part of its history that was thrown away (signal `recover`). A reset applies neither ends of
 * activities nor the order of inputs again: without this, tools would run and models be asked a second time.
 */
import type { CanonicalEvent } from '../log/events.js';
import type { Json } from '../values/json.js';

/** How an activity ended for good. */
export type RecoveredEnd =
  | { readonly as: 'completed'; readonly result: Json }
  | { readonly as: 'cancelled' }
  | {
      readonly as: 'failed';
      readonly type?: string;
      readonly message: string;
      readonly details?: readonly Json[];
    }
  /** `timeout`: Temporal's name of the time-out. `HEARTBEAT`: its worker was lost, or its end is not recorded. */
  | { readonly as: 'timed_out'; readonly timeout: string; readonly details?: readonly Json[] };

/** In the order in which it happened. */
export type RecoveredEntry =
  /** Taken over as it is: readers have been shown it. One that the run has decided again is skipped. */
  | { readonly type: 'event'; readonly event: CanonicalEvent }
  /** The id of the turn with this ordinal, as its sender was told: whatever ends it is found by it. */
  | { readonly type: 'turn_token'; readonly ordinal: number; readonly token: string }
  | {
      readonly type: 'input';
      readonly by: 'update' | 'signal';
      readonly name: string;
      readonly input: Json;
    }
  | { readonly type: 'ended'; readonly activityId: string; readonly end: RecoveredEnd };

/** Payload of the signal `recover`; as many as it takes, for one payload is bounded. */
export interface RecoverInput {
  readonly recoveryId: string;
  /** Events of the history of the run that is reset, without these signals. */
  readonly baseEvents: number;
  /** From 1. */
  readonly part: number;
  readonly parts: number;
  readonly entries: readonly RecoveredEntry[];
}

/** Bytes of JSON in one signal: below the server's 2 MiB with the codec's and the envelope's share. */
export const MAX_RECOVER_BYTES = 1_200 * 1024;

/** Undefined for anything that is no such payload: anybody may signal anything. */
export function recoverInputOf(input: unknown): RecoverInput | undefined {
  const given = input as Partial<RecoverInput> | null | undefined;
  if (typeof given !== 'object' || given === null) return undefined;
  const { recoveryId, baseEvents, part, parts, entries } = given;
  if (typeof recoveryId !== 'string' || !isCount(baseEvents)) return undefined;
  if (!isCount(part) || !isCount(parts) || part > parts) return undefined;
  return Array.isArray(entries) ? { recoveryId, baseEvents, part, parts, entries } : undefined;
}

/**
 * Whether the task with this start is of the run that came of the reset. The signals are sent to the run that is reset, too: there they
 * mean nothing, and stand behind all of its events, followed by the scheduling and the start of a task. In the new run the decisions that
 * were thrown away are missing before them. Ids of runs do not tell: a replay from a file knows the first one only.
 */
export function isAfterReset(
  { baseEvents, parts }: Pick<RecoverInput, 'baseEvents' | 'parts'>,
  startedId: number,
): boolean {
  return startedId < baseEvents + parts + 2;
}

function isCount(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= 1;
}
