/** The first events of a run: how a conversation starts, or continues when it is reopened. Pure. */
import type { CanonicalEvent, ConversationStarted, EventBody } from '../../protocol/log/events.js';
import { apply } from '../apply/apply.js';
import { leftOpenEvents } from '../events/turns.js';
import type { ConversationState } from '../state/state.js';

export interface Opening {
  readonly state: ConversationState;
  readonly events: readonly CanonicalEvent[];
}

/**
 * Continues the log of `before`, if any; ends first all that `before` left open. The messages that `started` reports as
 * dropped are missing in `before` already.
 */
export function openingOf(
  before: ConversationState | undefined,
  started: ConversationStarted,
  at: string,
): Opening {
  const { droppedMessages, ...bare } = started;
  const last: EventBody = before === undefined ? bare : { ...bare, reopened: true };
  const first = before === undefined ? [] : leftOpenEvents(before);
  let state = before;
  const events: CanonicalEvent[] = [];
  for (const body of first) {
    const event: CanonicalEvent = { ...body, seq: (state?.lastSeq ?? 0) + 1, at };
    state = apply(state, event);
    events.push(event);
  }
  const event: CanonicalEvent = { ...last, seq: (state?.lastSeq ?? 0) + 1, at };
  const recorded = droppedMessages === undefined ? event : { ...event, droppedMessages };
  return { state: apply(state, event), events: [...events, recorded] };
}
