/**
 * How many refused signals are written down. Nobody can be told of them, so the log is where they are found; but whoever sends the same
 * answer again and again, or a client that cannot wait for a busy worker, must not fill it. Pure.
 */
import type { ResolutionRefused } from '../../protocol/events.js';
import { MAX_RECORDED_REFUSALS, MAX_REFUSED_CALLS } from '../../protocol/limits.js';
import type { ConversationState } from '../state.js';

/** Calls that nobody knows share one count: ids from outside are without number. */
const UNKNOWN_CALLS = '';

function callOf({
  toolCallId,
  verdict,
}: Pick<ResolutionRefused, 'toolCallId' | 'verdict'>): string {
  return verdict === 'unknown' ? UNKNOWN_CALLS : toolCallId;
}

/** Whether this one is written down; those beyond are counted with the next event (`unrecordedRefusals`). */
export function isRecorded(
  { refusals = {} }: ConversationState,
  refused: ResolutionRefused,
): boolean {
  return (countsIn(refusals).get(callOf(refused)) ?? 0) < MAX_RECORDED_REFUSALS;
}

/** Folds one that was written down. Counts of calls that were refused longest ago are forgotten first. */
export function withRefusal(
  state: ConversationState,
  refused: Pick<ResolutionRefused, 'toolCallId' | 'verdict'>,
): ConversationState {
  const counts = countsIn(state.refusals ?? {});
  const call = callOf(refused);
  const count = (counts.get(call) ?? 0) + 1;
  counts.delete(call);
  const kept = [...counts, [call, count] as const].slice(-MAX_REFUSED_CALLS);
  return { ...state, refusals: Object.fromEntries(kept.map(([id, n]) => [`${PREFIX}${id}`, n])) };
}

/** Ids that are numbers would be put in front by objects, and some names mean something to them. */
const PREFIX = ':';

function countsIn(refusals: Readonly<Record<string, number>>): Map<string, number> {
  return new Map(Object.entries(refusals).map(([id, count]) => [id.slice(PREFIX.length), count]));
}
