/**
 * The contents of discarded history that a reset run is given (signal `recover`). A reset reapplies neither the ends of
 * activities nor the order of inputs: without this signal, tools would run and models be called a second time.
 */
import type { CanonicalEvent } from '../log/events.js';
import type { Json } from '../values/json.js';

/** The final end of an activity. */
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

/** One entry; entries are in the order in which they happened. */
export type RecoveredEntry =
  /** An event that readers have seen already, taken over unchanged. One that the run has decided again is skipped. */
  | { readonly type: 'event'; readonly event: CanonicalEvent }
  /**
   * Token of the id of the turn with this ordinal, as its sender got it, so that readers find the turn's end by that
   * id.
   */
  | { readonly type: 'turn_token'; readonly ordinal: number; readonly token: string }
  | {
      readonly type: 'input';
      readonly by: 'update' | 'signal';
      readonly name: string;
      readonly input: Json;
    }
  | { readonly type: 'ended'; readonly activityId: string; readonly end: RecoveredEnd };

/** Payload of the signal `recover`. One recovery sends several, since one payload is bounded. */
export interface RecoverInput {
  readonly recoveryId: string;
  /** Number of events in the history of the run that is reset, without these signals. */
  readonly baseEvents: number;
  /** Number of this part, from 1. */
  readonly part: number;
  readonly parts: number;
  readonly entries: readonly RecoveredEntry[];
}

/** Bytes of JSON in one signal: below the server's 2 MiB with the codec's and the envelope's share. */
export const MAX_RECOVER_BYTES = 1_200 * 1024;

/** Reads the payload of a signal, which any client may send. Undefined when it is not valid. */
export function recoverInputOf(input: unknown): RecoverInput | undefined {
  const given = input as Partial<RecoverInput> | null | undefined;
  if (typeof given !== 'object' || given === null) return undefined;
  const { recoveryId, baseEvents, part, parts, entries } = given;
  if (typeof recoveryId !== 'string' || !isCount(baseEvents)) return undefined;
  if (!isCount(part) || !isCount(parts) || part > parts) return undefined;
  return Array.isArray(entries) ? { recoveryId, baseEvents, part, parts, entries } : undefined;
}

/**
 * Whether the task with this start belongs to the run that the reset created. The signals are also sent to the run that
 * is reset, where they mean nothing: there they follow all of its events, and the scheduling and the start of a task
 * follow them. In the new run the discarded decisions are missing before them. Run ids cannot distinguish the two,
 * since a replay from a file knows only the first one.
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
