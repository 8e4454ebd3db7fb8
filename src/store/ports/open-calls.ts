/**
 * Calls that wait for a client or backend: part of the event log port. Only what distinguishes one state of a call from
 * another; its content is in the snapshot of its conversation.
 */
import type { JudgedActor } from '../../protocol/values/actors.js';
import type { ConversationKey, ToolCallId } from '../../protocol/values/ids.js';

export interface OpenCall extends ConversationKey {
  readonly toolCallId: ToolCallId;
  readonly tool: string;
  /** How often clients have claimed the call before. */
  readonly claims: number;
  /** End of the log with which the call became what it is: a later change of it has a greater one. */
  readonly seq: number;
  /**
   * Generation of the log, and milliseconds since 1970 at which the call was opened: another one may have the same ids
   * and seq, after its log was rewritten, or its conversation was deleted and has begun again.
   */
  readonly generation: number;
  readonly openedAtMs: number;
}

export interface OpenCallsRead {
  readonly tenant: string;
  readonly tools: readonly string[];
  readonly kinds: readonly ('client_execution' | 'external_execution')[];
  readonly agent?: string;
  /** The actor that the calls must admit. */
  readonly admits: JudgedActor;
  readonly limit: number;
}

export interface OpenCalls {
  /** Calls that wait and that no client holds, those first that end first. */
  unclaimedCalls(options: OpenCallsRead): Promise<readonly OpenCall[]>;
}
