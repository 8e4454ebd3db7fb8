/** The next catch-up of a conversation: hints and checks that arrive before it begins are joined. Pure. */
import { mostUrgent, type Urgency } from '../../protocol/log/urgency.js';
import type { Target } from '../catch-up/catch-up.js';
import type { Doubt } from './settled-doubts.js';

export type Wanted = Target & {
  readonly urgency: Urgency;
  readonly again?: true;
  /** Some of the new events open or end calls, as far as they came with the hint. */
  readonly calls?: true;
  /** Joined from a check without a hint and a hint of new events. */
  readonly soon?: true;
};

/** Joins two hints; the later one names the run. */
export function joined(earlier: Wanted | undefined, later: Wanted): Wanted;
export function joined(earlier: Wanted, later: Wanted | undefined): Wanted;
export function joined(earlier: Wanted | undefined, later: Wanted | undefined): Wanted | undefined {
  if (earlier === undefined || later === undefined) return later ?? earlier;
  // An older run may be replayed, and in doubt, after a newer one has reported new events.
  if (earlier.runId !== later.runId)
    return isDoubtful(later) && !isDoubtful(earlier) ? earlier : later;
  const urgency = mostUrgent(earlier.urgency, later.urgency);
  const { runId } = later;
  // One of the two has no seq, so the joined target has none: it queries in any case.
  if (earlier.seq === undefined || later.seq === undefined) return { runId, urgency };
  const seq = Math.max(earlier.seq, later.seq);
  if (earlier.doubt === true && later.doubt === true) return { runId, seq, urgency, doubt: true };
  // New events settle the doubt. Their task is on its way to the server, so the catch-up waits for it.
  const soon = [earlier, later].some((wanted) => wanted.soon === true || wanted.doubt === true);
  const calls = earlier.calls ?? later.calls;
  return {
    ...{ runId, seq, urgency },
    ...(soon ? { soon } : {}),
    ...(calls === undefined ? {} : { calls }),
  };
}

export function doubtOf({ doubt, runId, seq }: Wanted): Doubt | undefined {
  return doubt === true && seq !== undefined ? { runId, seq } : undefined;
}

/** True for events that may have been lost long ago: a delay gains nothing. */
export function isCheck(wanted: Wanted): boolean {
  return isDoubtful(wanted) && wanted.again !== true;
}

/** True for a target that reports no new events. */
export function isDoubtful({ seq, doubt }: Target): boolean {
  return seq === undefined || doubt === true;
}
