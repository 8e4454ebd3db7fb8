/** Which revision of the core's decisions a conversation was started under: see `docs/revisions.md`. Pure. */
import type { ConversationState } from './state.js';

/** True when the conversation was started under this revision, or a later one. No decision has more than one so far. */
export function isSince(
  { settings }: Pick<ConversationState, 'settings'>,
  revision: number,
): boolean {
  const { coreRevision } = settings;
  return typeof coreRevision === 'number' && coreRevision >= revision;
}
