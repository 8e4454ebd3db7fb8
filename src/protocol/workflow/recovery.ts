/**
 * The contents of discarded history that a reset run is given (signal `recover`). A reset reapplies neither the ends of
 * activities nor the order of inputs: without this signal, tools would run and models be called a second time.
 */
import type { CanonicalEvent } from '../log/events.js';
import { isRecord, type Json } from '../values/json.js';

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

/**
 * Payload of the signal `recover`. One recovery sends several, since one payload is bounded. A run takes them only in
 * the task that follows its reset (`workflows/driver/recovery.ts`).
 */
export interface RecoverInput {
  readonly recoveryId: string;
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
  const { recoveryId, part, parts, entries } = given;
  if (typeof recoveryId !== 'string') return undefined;
  if (!isCount(part) || !isCount(parts) || part > parts) return undefined;
  return Array.isArray(entries) && entries.every(isEntry)
    ? { recoveryId, part, parts, entries }
    : undefined;
}

/** The parts of the newest complete recovery among these, in the order in which they came; empty when there is none. */
export function newestWhole<Part extends RecoverInput>(found: readonly Part[]): readonly Part[] {
  const whole = found.findLast(
    ({ recoveryId, parts }) =>
      found.filter((other) => other.recoveryId === recoveryId).length === parts,
  );
  return found.filter(({ recoveryId }) => recoveryId === whole?.recoveryId);
}

/** The entries of a complete recovery. Its signals are recorded in any order. */
export function entriesOf(parts: readonly RecoverInput[]): readonly RecoveredEntry[] {
  return parts.toSorted((one, other) => one.part - other.part).flatMap(({ entries }) => entries);
}

function isEntry(entry: unknown): entry is RecoveredEntry {
  if (!isRecord(entry)) return false;
  switch (entry['type']) {
    case 'event':
      return isRecord(entry['event']) && isCount(entry['event']['seq']);
    case 'turn_token':
      return isCount(entry['ordinal']) && typeof entry['token'] === 'string';
    case 'input':
      return typeof entry['name'] === 'string';
    case 'ended':
      return typeof entry['activityId'] === 'string' && isRecord(entry['end']);
    default:
      return false;
  }
}

function isCount(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= 1;
}
