/**
 * Accepted requests as a conversation remembers them, so that a repeat gets the same reply. Roll-overs carry them on.
 */
import type { ClaimedVerdict } from '../../protocol/calls/claims.js';
import type { ExtendedVerdict } from '../../protocol/calls/extensions.js';
import type { AcceptedVerdict } from '../../protocol/calls/resolutions.js';
import type { SendMessageReply } from '../../protocol/conversation/conversation.js';
import type { InboxEventReply } from '../../protocol/conversation/inbox.js';
import type { ToolCallId, TurnId } from '../../protocol/values/ids.js';

export interface RememberedResolution {
  readonly requestId: string;
  readonly operation: 'resolution';
  /** Digest of the content; see `memory/duplicates.ts`. */
  readonly digest: string;
  readonly argsDigest?: string;
  readonly reply: AcceptedVerdict;
}

export interface RememberedExtension {
  readonly requestId: string;
  readonly operation: 'extend';
  readonly previousDeadline: string;
  readonly reply: ExtendedVerdict;
}

/** An accepted request and its reply; repeats get the same reply. */
export type RememberedRequest =
  | {
      readonly requestId: string;
      readonly operation: 'message';
      readonly digest: string;
      readonly reply: SendMessageReply;
    }
  | RememberedResolution
  | {
      readonly requestId: string;
      readonly operation: 'inbox';
      readonly digest: string;
      readonly reply: InboxEventReply;
    }
  | RememberedExtension
  | {
      readonly requestId: string;
      readonly operation: 'claim';
      /** Id of the actor that claimed the call. */
      readonly actor: string;
      readonly reply: ClaimedVerdict;
    }
  | {
      readonly requestId: string;
      readonly operation: 'cancel';
      readonly reply: { readonly turnId: TurnId; readonly seq: number };
    };

export function isResolutionOf(
  request: RememberedRequest,
  requestId: string,
  toolCallId: ToolCallId,
): boolean {
  return (
    request.operation === 'resolution' &&
    request.requestId === requestId &&
    request.reply.toolCallId === toolCallId
  );
}
