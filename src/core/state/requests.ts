/**
 * Accepted requests as rows of the state, so that a repeat gets the same reply. Every roll-over carries them, so a row
 * has only what verdicts need: ids that are only looked up are fingerprints, and a field is absent where its value
 * follows from the others. `memory/memory.ts` reads the rows.
 */
import type { MessageId, ToolCallId, TurnId } from '../../protocol/values/ids.js';
import { fingerprint } from '../../protocol/values/json.js';

interface Row {
  /** The request id as a fingerprint, with its call and actor where these belong to it; see `requestKey`. */
  readonly key: string;
  /** Sequence number of the event that recorded the request. */
  readonly seq: number;
}

interface MessageRow extends Row {
  readonly operation: 'message';
  /** Digest of the content in its kept form; see `keptDigest`. */
  readonly digest: string;
  readonly turnId: TurnId;
  /** Absent: that of the message which began the turn. */
  readonly messageId?: MessageId;
  /** Number of turns that came first; absent: none. */
  readonly ahead?: number;
  readonly steers?: true;
}

interface ResolutionRow extends Row {
  readonly operation: 'resolution';
  /** Key of the call. */
  readonly call: string;
  readonly digest: string;
  /** In its kept form; see `keptArgsDigest`. */
  readonly argsDigest?: string;
  readonly late?: true;
}

interface InboxRow extends Row {
  readonly operation: 'inbox';
  readonly digest: string;
}

interface ExtensionRow extends Row {
  readonly operation: 'extend';
  readonly deadline: string;
  readonly previousDeadline: string;
}

interface ClaimRow extends Row {
  readonly operation: 'claim';
  readonly claimId: string;
  readonly leaseUntil: string;
}

interface CancelRow extends Row {
  readonly operation: 'cancel';
  readonly turnId: TurnId;
}

export type RequestRow =
  | MessageRow
  | ResolutionRow
  | InboxRow
  | ExtensionRow
  | ClaimRow
  | CancelRow;

/**
 * The key under which a request is remembered: with its call, because requests of several calls may share an id, and a
 * claim with its actor. 53 bits: two ids of a thousand share a key once in 10^10 conversations.
 */
export function requestKey(requestId: string, toolCallId?: ToolCallId, actor?: string): string {
  return fingerprint(JSON.stringify([requestId, toolCallId, actor]));
}

/** The key of a call in the rows of ended calls and of resolutions. */
export function callKey(toolCallId: ToolCallId): string {
  return fingerprint(toolCallId);
}

/**
 * The part of a content's digest that is remembered, its end: other content under a known id passes for a repeat once in
 * two billion times.
 */
export function keptDigest(digest: string): string {
  return digest.slice(-6);
}

/** Whether a digest is the known one, of which all or the kept part is given. */
export function isSameDigest(known: string, digest: string): boolean {
  return digest.endsWith(known);
}

/**
 * The part of an `argsDigest` that is remembered: all of the engine's own digests (of questions and offers), and 68 bits
 * of a hash. It says for which state of the call an answer was meant.
 */
export function keptArgsDigest(argsDigest: string): string {
  return argsDigest.slice(0, 24);
}
