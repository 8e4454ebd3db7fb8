/** States that hold nothing but a transcript. */
import { applyAll } from '../../../src/core/apply/apply.js';
import { messageBytes } from '../../../src/core/context/transcript.js';
import type { ConversationState } from '../../../src/core/state/state.js';
import type { AgentSettings } from '../../../src/protocol/conversation/agents.js';
import type { Message } from '../../../src/protocol/conversation/messages.js';
import { conversationStarted } from '../builders/core-builders.js';

export function aConversationState(
  transcript: readonly Message[],
  settings: Partial<AgentSettings> = {},
): ConversationState {
  const at = '2026-03-01T12:00:00.000Z';
  const state = applyAll([{ ...conversationStarted(settings), seq: 1, at }]);
  if (state === undefined) throw new Error('unreachable');
  const transcriptBytes = transcript.reduce((sum, message) => sum + messageBytes(message), 0);
  return { ...state, transcript, transcriptBytes };
}
