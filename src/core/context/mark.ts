/** The facts about the previous model call that the next one is given. Pure. */
import type { ContextMark } from '../../protocol/conversation/context.js';
import type { ConversationState } from '../state/state.js';

export function markOf({ context }: ConversationState): { readonly context?: ContextMark } {
  if (context === undefined) return {};
  const { tokens, inputTokens, rough, scale, fromTurnId, evictedAsOf } = context;
  return {
    context: {
      tokens,
      inputTokens,
      ...(rough === undefined ? {} : { rough }),
      ...(scale === undefined ? {} : { scale }),
      ...(fromTurnId === undefined ? {} : { fromTurnId }),
      ...(evictedAsOf === undefined ? {} : { evictedAsOf }),
    },
  };
}
