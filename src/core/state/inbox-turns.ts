/** The turns that inbox events start, and the bound on them. Pure. */

import { MAX_PREVIEW_CHARS, MAX_PREVIEWED_EVENTS } from '../../protocol/limits/limits.js';
import { cutText } from '../../protocol/values/well-formed.js';
import type { InboxPreview } from '../../protocol/workflow/activities.js';
import type { ConversationState } from './state.js';

/** Whether inbox events that come while a turn runs are left to the next turn. */
export function waitsForNextTurn({ settings }: Pick<ConversationState, 'settings'>): boolean {
  return settings.inbox?.whileBusy === 'next_turn';
}

/** When the next turn of inbox events may start, as ISO 8601; undefined: now, as of the newest event. */
export function inboxTurnAfter({
  settings,
  inboxTurns = [],
  updatedAt,
}: ConversationState): string | undefined {
  const rate = settings.inbox?.rate;
  const oldest = rate === undefined ? undefined : inboxTurns.at(-rate.turns);
  if (rate === undefined || oldest === undefined) return undefined;
  const after = new Date(Date.parse(oldest) + rate.perMs).toISOString();
  return after > updatedAt ? after : undefined;
}

/** Notes the start of such a turn, and forgets those that count no more. */
export function withInboxTurn(state: ConversationState, at: string): ConversationState {
  const rate = state.settings.inbox?.rate;
  if (rate === undefined) return state;
  const since = new Date(Date.parse(at) - rate.perMs).toISOString();
  const left = (state.inboxTurns ?? []).filter((start) => start > since);
  return { ...state, inboxTurns: [...left, at].slice(-rate.turns) };
}

/** The events that wait for the next turn, as a model call of this one reads them. Undefined when there are none. */
export function inboxPreview(state: ConversationState): InboxPreview | undefined {
  const { inbox = [] } = state;
  if (inbox.length === 0 || !waitsForNextTurn(state)) return undefined;
  const shown = inbox.slice(0, MAX_PREVIEWED_EVENTS);
  return {
    waiting: inbox.length,
    beginnings: shown.map(({ text }) => cutText(text, MAX_PREVIEW_CHARS)),
  };
}
