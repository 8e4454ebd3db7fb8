/** The effect of a mark of trouble on snapshots and lists. Pure; both adapters use it. */
import type { ConversationSnapshot } from '../../../protocol/conversation/conversation.js';
import { isRecord } from '../../../protocol/values/json.js';
import { TROUBLE_KINDS, type Trouble, type TroubleKind } from '../../../protocol/values/trouble.js';

/** True for a filter by the kind of a mark, false for a status of the projected state. */
export function isTroubleKind(status: string | undefined): status is TroubleKind {
  return TROUBLE_KINDS.some((kind) => kind === status);
}

/** Whether a mark differs in kind, run or error from the one before. */
export function isNewTrouble(before: Trouble | undefined, after: Trouble): boolean {
  return (
    before?.kind !== after.kind || before.runId !== after.runId || before.error !== after.error
  );
}

export function troubleFrom(json: unknown): Trouble | undefined {
  if (typeof json !== 'string') return undefined;
  const trouble: unknown = JSON.parse(json);
  return isRecord(trouble) ? (trouble as unknown as Trouble) : undefined;
}

/** The snapshot with the status of the mark; `trouble.was` keeps the status of the log. */
export function shownWith(
  snapshot: ConversationSnapshot,
  trouble: Trouble | undefined,
): ConversationSnapshot {
  if (trouble === undefined || snapshot.status === 'closed') return snapshot;
  return { ...snapshot, status: trouble.kind, trouble: { ...trouble, was: snapshot.status } };
}
