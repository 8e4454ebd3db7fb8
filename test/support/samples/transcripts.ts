/** States that hold nothing but a transcript. */
import { applyAll } from '../../../src/core/apply/apply.js';
import { bytesOf } from '../../../src/core/context/transcript.js';
import type { ConversationState } from '../../../src/core/state/state.js';
import type { TranscriptItem } from '../../../src/core/state/transcript.js';
import type { AgentSettings } from '../../../src/protocol/conversation/agents.js';
import { conversationStarted } from '../builders/core-builders.js';

export function aConversationState(
  transcript: readonly TranscriptItem[],
  settings: Partial<AgentSettings> = {},
): ConversationState {
  const at = '2026-03-01T12:00:00.000Z';
  const state = applyAll([{ ...conversationStarted(settings), seq: 1, at }]);
  if (state === undefined) throw new Error('unreachable');
  return { ...state, transcript, transcriptBytes: bytesOf(transcript) };
}
