/** What a mark of trouble changes in what the store shows. Pure; both adapters use it. */
import type { ConversationSnapshot } from '../../protocol/conversation/conversation.js';
import { isRecord } from '../../protocol/values/json.js';
import { TROUBLE_KINDS, type Trouble, type TroubleKind } from '../../protocol/values/trouble.js';

/** The status that a list is filtered by is a mark's, not one of the projected state. */
export function isTroubleKind(status: string | undefined): status is TroubleKind {
  return TROUBLE_KINDS.some((kind) => kind === status);
}

/** Whether a mark tells something that the one before did not. */
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

/** The snapshot with the status that the mark gives it; what the log says of the status is kept beside it. */
export function shownWith(
  snapshot: ConversationSnapshot,
  trouble: Trouble | undefined,
): ConversationSnapshot {
  if (trouble === undefined || snapshot.status === 'closed') return snapshot;
  return { ...snapshot, status: trouble.kind, trouble: { ...trouble, was: snapshot.status } };
}
