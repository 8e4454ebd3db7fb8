/** The note that the leader of the sweep keeps beside its lease: when it passed last, how long that took, and what it found. */
import type { SeenPass } from '../../protocol/log/operations.js';
import { isRecord } from '../../protocol/values/json.js';

/** The findings of one pass. */
export interface SweepReport {
  /** Conversations that were compared with Temporal; see S1. */
  readonly checked: number;
  /** Conversations whose workflow was queried, because it had moved. */
  readonly asked: number;
  /** Conversations that run, but were not in the store, or closed there; and closed ones that were not there. */
  readonly found: number;
  /** Open in the store, but Temporal does not have the workflow (any more). */
  readonly gone: number;
  /**
   * Open in the store, but the workflow ended without an event. Terminated, timed out, failed: closed in the store now.
   */
  readonly endedSilently: number;
  /** The store or the workflow did not answer. */
  readonly failed: number;
}

export function noteOf(report: SweepReport, tookMs: number): string {
  const pass: SeenPass = { at: new Date().toISOString(), tookMs: Math.round(tookMs), ...report };
  return JSON.stringify(pass);
}

/** Undefined for a note of another form, such as one of another version. */
export function passIn(note: string | undefined): SeenPass | undefined {
  let read: unknown;
  try {
    read = JSON.parse(note ?? 'null');
  } catch {
    return undefined;
  }
  if (!isRecord(read) || typeof read['at'] !== 'string') return undefined;
  const { at } = read;
  const number = (name: keyof SweepReport | 'tookMs'): number => {
    const value = read[name];
    return typeof value === 'number' ? value : 0;
  };
  return {
    at,
    tookMs: number('tookMs'),
    checked: number('checked'),
    asked: number('asked'),
    found: number('found'),
    gone: number('gone'),
    endedSilently: number('endedSilently'),
    failed: number('failed'),
  };
}
