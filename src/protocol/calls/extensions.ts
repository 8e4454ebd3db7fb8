/** Extensions: payload and verdicts of moving the deadline of a waiting call. Wire format: only ever extended. */
import type { Actor, StampedActor } from '../values/actors.js';
import type { ToolCallId } from '../values/ids.js';
import type { Verdict } from './resolutions.js';

/** Payload of the update `extendToolCall`. Exactly one of `until` and `by` is given. */
export interface ExtendToolCallInput {
  readonly toolCallId: ToolCallId;
  /** The new deadline, ISO 8601 with its offset. */
  readonly until?: string;
  /** Milliseconds added to the present deadline. */
  readonly by?: number;
  /** Minted by the client before its first try; a repeat answers `duplicate` and moves nothing. */
  readonly requestId?: string;
  readonly actor?: Actor | StampedActor;
}

export interface ExtendedVerdict {
  readonly verdict: 'accepted';
  readonly toolCallId: ToolCallId;
  /** The deadline from now on. */
  readonly deadline: string;
  /** Sequence number of the recorded extension. */
  readonly seq: number;
}

/** In the order of precedence of the verdicts on resolutions. Refusals record nothing. */
export type ExtendVerdict =
  | Extract<Verdict, { verdict: 'unknown' | 'forbidden' | 'stale' | 'expired' | 'invalid' }>
  | { readonly verdict: 'duplicate'; readonly first: ExtendedVerdict }
  | ExtendedVerdict;
