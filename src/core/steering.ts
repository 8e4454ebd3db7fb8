/** Messages that join a running turn: how they wait, and when they enter the transcript. Pure. */
import { withTurn } from './fold.js';
import { withInboxRead } from './inbox.js';
import type { ConversationState } from './state.js';
import { withMessage } from './transcript.js';

/** What waits to join the turn enters the transcript, in the order in which it came. */
export function withSteering(state: ConversationState): ConversationState {
  const { turn } = state;
  if (turn?.steering === undefined) return state;
  let next = withTurn(state, ({ steering: _read, ...rest }) => rest);
  for (const { messageId, parts } of turn.steering)
    next = withMessage(next, { role: 'user', id: messageId, turnId: turn.turnId, parts });
  return next;
}

/** The turn goes on with another model call, which reads everything that was said until now. */
export function nextStep(state: ConversationState): ConversationState {
  const steered = withSteering(state);
  const read = steered.turn === undefined ? steered : withInboxRead(steered, steered.turn.turnId);
  return withTurn(read, (turn) => ({
    ...turn,
    step: turn.step + 1,
    phase: 'model',
    callIds: [],
  }));
}
