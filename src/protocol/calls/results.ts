/** States of tool calls, results and their envelope. Runs anywhere. */
import type { StampedActor } from '../values/actors.js';
import type { FilePart, ImagePart } from '../values/attachments.js';
import type { BlobRef } from '../values/blobs.js';
import type { ToolCallId } from '../values/ids.js';
import type { Json } from '../values/json.js';
import type { StatePatch } from './plugin-state.js';

/** An ended call of a turn, without its result, as later policies of that turn see it. */
export interface EarlierResult {
  readonly toolCallId: ToolCallId;
  readonly name: string;
  readonly ok: boolean;
  /**
   * `untrusted`: a person, a browser, another backend or the model's provider gave the result, and may have given
   * anything.
   */
  readonly provenance: Provenance;
}

/** States of a call; closed. The first seven are open, the rest are final. */
export type CallStatus =
  | 'running'
  | 'awaiting_approval'
  | 'awaiting_answer'
  | 'awaiting_client'
  | 'awaiting_external'
  | 'detached'
  | 'outcome_unknown'
  | FinalCallStatus;

export type FinalCallStatus = 'resolved' | 'errored' | 'denied' | 'expired' | 'cancelled';

/**
 * The result of a call as the model sees it. `notice`: a text that the engine adds, which is not the tool's. `blob`:
 * the result was too large; `result` is its beginning with a marker, and the whole is stored under this reference.
 */
export type ToolResultEnvelope =
  | {
      readonly ok: true;
      readonly result: Json;
      readonly blob?: BlobRef;
      /** Images and files that the tool returns beside its result. */
      readonly files?: readonly (ImagePart | FilePart)[];
      readonly notice?: string;
    }
  | { readonly ok: false; readonly error: ToolResultError; readonly notice?: string };

export interface ToolResultError {
  readonly code: ToolErrorCode;
  readonly message: string;
}

/** Codes in result envelopes; readable by models and by clients. */
export type ToolErrorCode =
  | 'unknown_tool'
  | 'invalid_json'
  | 'invalid_input'
  | 'invalid_output'
  | 'tool_error'
  | 'tool_crashed'
  | 'timeout'
  | 'outcome_unknown'
  | 'denied'
  | 'declined'
  | 'expired'
  | 'unclaimed'
  | 'cancelled'
  | 'client_error'
  | 'external_error'
  | 'provider_error'
  | 'policy_error'
  | 'too_many_calls'
  | 'repeated_call'
  | 'not_available'
  | 'definition_changed'
  /** The call was open where its conversation was forked, and was left to the origin. */
  | 'not_carried';

/** Origin of a result. Results of people, browsers and other backends are under their control. */
export type Provenance = 'trusted' | 'untrusted';

/** One ended call, as results and logs carry it. */
export interface ToolResult {
  /** `detached`: the model gets `pending` as the result, and the call continues. */
  readonly status: FinalCallStatus | 'detached';
  readonly envelope: ToolResultEnvelope;
  readonly provenance: Provenance;
  /** The actor who answered or decided; absent for tools that simply ran. */
  readonly actor?: StampedActor;
  readonly executionMs?: number;
  /** Changes of plugin states that the tool's run asked for; see `state_patch` for when they take effect. */
  readonly patches?: readonly StatePatch[];
}

/** The code of an error that verdicts for later answers name: the call was ended without an answer. */
export function endingCode({ envelope }: ToolResult): { readonly code?: ToolErrorCode } {
  const reported: readonly ToolErrorCode[] = ['definition_changed', 'not_available', 'not_carried'];
  return !envelope.ok && reported.includes(envelope.error.code)
    ? { code: envelope.error.code }
    : {};
}
