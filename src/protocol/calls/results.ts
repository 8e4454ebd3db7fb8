/** States of tool calls, results and their envelope. Runs anywhere. */
import type { StampedActor } from '../values/actors.js';
import type { FilePart, ImagePart } from '../values/attachments.js';
import type { BlobRef } from '../values/blobs.js';
import type { ToolCallId } from '../values/ids.js';
import type { Json } from '../values/json.js';

/** A call of a turn that has its result, as later policies of that turn see it. What it returned is not in it. */
export interface EarlierResult {
  readonly toolCallId: ToolCallId;
  readonly name: string;
  readonly ok: boolean;
  /** `untrusted`: a person, a browser, another backend or the model's provider gave it, and may have given anything. */
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
 * What the model always sees as the result of a call. `notice`: a word of the engine beside it, which the tool did not say.
 * `blob`: the result was too large, and `result` is its beginning with a marker; all of it is stored under this reference.
 */
export type ToolResultEnvelope =
  | {
      readonly ok: true;
      readonly result: Json;
      readonly blob?: BlobRef;
      /** Images and files that the tool shows beside its result. */
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
  | 'definition_changed';

/** Where a result came from. What people, browsers and other backends return is under their control. */
export type Provenance = 'trusted' | 'untrusted';

/** One ended call, as results and logs carry it. */
export interface ToolResult {
  /** `detached`: the model goes on with `pending`, and the call does not end here. */
  readonly status: FinalCallStatus | 'detached';
  readonly envelope: ToolResultEnvelope;
  readonly provenance: Provenance;
  /** Who answered or decided; absent for tools that simply ran. */
  readonly actor?: StampedActor;
  readonly executionMs?: number;
}
