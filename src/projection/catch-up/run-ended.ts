/** Closes the stored log of a conversation whose run was ended from outside and emits no more events. */
import type { CanonicalEvent } from '../../protocol/log/events.js';
import type { ConversationKey } from '../../protocol/values/ids.js';
import type { EventLog } from '../../store/ports/log.js';
import type { HeadPosition, LogHead } from '../../store/ports/log-head.js';
import type { EndedBy } from '../source/workflow-source.js';

/** Predicates of a sentence whose subject is the run. */
export const ENDED_TEXTS: Readonly<Record<EndedBy, string>> = {
  terminated: 'was terminated',
  failed: 'failed',
  timed_out: 'timed out',
};

/** A run whose events are all stored or lost. */
export interface EndedRun {
  readonly runId: string;
  readonly endedBy: EndedBy;
  /** ISO 8601; now, when not known. */
  readonly closedAt?: string;
}

/**
 * Appends `run_ended` at a position of the log that was read before the run was found to be the newest one. Not when
 * the log is closed or has moved: so repeats, and several processes at once, leave one marker, and none behind a newer
 * run. A run that begins later rewrites it, like any event that the run did not emit itself. Undefined when nothing was
 * appended.
 * @throws {StoreUnavailable}
 */
export async function markRunEnded(
  log: EventLog,
  end: { readonly key: ConversationKey; readonly run: EndedRun; readonly position: HeadPosition },
): Promise<LogHead | undefined> {
  const { tenant, conversationId } = end.key;
  const { position, run } = end;
  const head = await log.head({ tenant, conversationId });
  if (head === undefined || head.snapshot.status === 'closed') return undefined;
  const { runId } = run;
  const marker: CanonicalEvent = {
    type: 'run_ended',
    seq: position.lastSeq + 1,
    at: run.closedAt ?? new Date().toISOString(),
    runId,
    status: run.endedBy,
  };
  const events = [marker];
  const result = await log.append({ tenant, conversationId, runId, events, onlyAt: position });
  return 'head' in result ? result.head : undefined;
}
