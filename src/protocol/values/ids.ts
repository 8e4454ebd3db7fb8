/** Ids: their alphabet, how they compose into workflow ids and refs. Runs anywhere. */
import { MAX_CALL_ID_CHARS, MAX_ID_CHARS, MAX_REQUEST_ID_CHARS } from '../limits/limits.js';

export type ConversationId = string;
export type TurnId = string;
export type MessageId = string;
export type ToolCallId = string;
/** One model call of a turn and the calls that it asked for: `<turnId>.<step>`. */
export type StepId = string;

export const DEFAULT_TENANT = 'default';

const ID = /^[A-Za-z0-9_.-]+$/;
const CALL_ID = /^[A-Za-z0-9_.:|~-]+$/;

/** Why a tenant, conversation or agent id cannot be used, or undefined. */
export function idProblem(field: string, value: unknown): string | undefined {
  if (typeof value !== 'string' || value === '') return `${field} must be a non-empty string`;
  if (value.length > MAX_ID_CHARS)
    return `${field} must be at most ${MAX_ID_CHARS} characters, got ${value.length}`;
  if (!ID.test(value)) return `${field} may hold only letters, digits, "_", "." and "-"`;
  return undefined;
}

/** Why a request id cannot be used, or undefined. Any printable text will do: job ids come in all shapes. */
export function requestIdProblem(field: string, value: unknown): string | undefined {
  if (typeof value !== 'string' || value === '') return `${field} must be a non-empty string`;
  if (value.length > MAX_REQUEST_ID_CHARS)
    return `${field} must be at most ${MAX_REQUEST_ID_CHARS} characters, got ${value.length}`;
  return undefined;
}

/** Provider call ids are kept when they are short and plain; otherwise the engine mints its own. */
export function isUsableCallId(value: string): boolean {
  return value.length <= MAX_CALL_ID_CHARS && CALL_ID.test(value);
}

export interface ConversationKey {
  readonly tenant: string;
  readonly conversationId: ConversationId;
}

/** `tenant/conversation`: the key of a conversation in stores, caches and live channels. */
export function conversationKey(key: ConversationKey): string {
  return `${key.tenant}/${key.conversationId}`;
}

/** Workflow ids are in Temporal for ever: `conversation:<tenant>:<conversationId>`. */
export function workflowIdFor(key: ConversationKey): string {
  return `${workflowIdPrefixOf(key.tenant)}${key.conversationId}`;
}

/** What the workflow ids of a tenant begin with, and no others. */
export function workflowIdPrefixOf(tenant: string): string {
  return `conversation:${tenant}:`;
}

/** The inverse of `workflowIdFor`, or undefined for any other workflow. */
export function parseWorkflowId(workflowId: string): ConversationKey | undefined {
  const [kind, tenant, conversationId, ...rest] = workflowId.split(':');
  if (kind !== 'conversation' || rest.length > 0) return undefined;
  if (idProblem('tenant', tenant) !== undefined) return undefined;
  if (idProblem('conversationId', conversationId) !== undefined) return undefined;
  return { tenant: tenant ?? '', conversationId: conversationId ?? '' };
}

/**
 * The chain: names one incarnation of a conversation, from its first run through all its roll-overs.
 * Taken from the random end of the first run's UUID (its start may be a time stamp).
 */
export function chainOf(firstRunId: string): string {
  return firstRunId.replaceAll('-', '').slice(-12);
}

/** Turn ids are unique over all conversations: the chain is. The token tells apart what a reset decides again. */
export function turnIdFor(chain: string, ordinal: number, token?: string): TurnId {
  const id = `turn_${chain}_${ordinal}`;
  return token === undefined ? id : `${id}_${token}`;
}

/**
 * Whether a turn came before another. Only turns of one chain have an order; none is between two that bear the same number, of
 * which a reset has decided one anew. False for what is no turn id.
 */
export function isEarlierTurn(turnId: TurnId, than: TurnId | undefined): boolean {
  const [one, other] = [placeOf(turnId), placeOf(than ?? '')];
  if (one === undefined || other === undefined || one.chain !== other.chain) return false;
  return one.ordinal < other.ordinal;
}

/** What `turnIdFor` made the id of. */
function placeOf(turnId: TurnId): { chain: string; ordinal: number } | undefined {
  const parts = /^turn_([A-Za-z0-9-]+)_([1-9]\d*)(?:_[A-Za-z0-9]+)?$/.exec(turnId);
  return parts === null ? undefined : { chain: parts[1] ?? '', ordinal: Number(parts[2]) };
}

/** Steps are counted within their turn, so the id of a step is unique over all conversations, too. */
export function stepIdFor(turnId: TurnId, step: number): StepId {
  return `${turnId}.${step}`;
}

/** The inverse of `stepIdFor`, or undefined when the text is no id of a step. */
export function parseStepId(text: string): { turnId: TurnId; step: number } | undefined {
  const parts = /^([A-Za-z0-9_-]+)\.([1-9]\d{0,5})$/.exec(text);
  return parts === null ? undefined : { turnId: parts[1] ?? '', step: Number(parts[2]) };
}

/** Characters of the arguments' digest in an idempotency key: enough to tell two inputs apart. */
const KEY_DIGEST_CHARS = 16;

/**
 * The key that a side-effecting tool should hand on to what it calls: stable over retries, kills and roll-overs, and another
 * one as soon as call, arguments or incarnation differ. Turn ids are unique over all conversations; the step guards against
 * providers that number their calls anew; the digest against a model that asks for something else after a reset.
 */
export function idempotencyKeyFor(
  key: ConversationKey,
  call: {
    readonly turnId: TurnId;
    readonly step: number;
    readonly toolCallId: ToolCallId;
    readonly argsDigest?: string | undefined;
  },
): string {
  const digest = (call.argsDigest ?? '').replace('sha256:', '').slice(0, KEY_DIGEST_CHARS);
  return `${key.tenant}/${key.conversationId}/${call.turnId}.${call.step}/${call.toolCallId}/${digest}`;
}

export interface CallRef extends ConversationKey {
  readonly toolCallId: ToolCallId;
}

/** One opaque text that names a call of a conversation: for links, buttons and queues. */
export function formatRef(ref: CallRef): string {
  return `${ref.tenant}~${ref.conversationId}~${encodeURIComponent(ref.toolCallId)}`;
}

/** The inverse of `formatRef`, or undefined when the text is not a ref. */
export function parseRef(text: string): CallRef | undefined {
  const parts = text.split('~');
  const [tenant, conversationId] = parts;
  const call = parts.slice(2).join('~');
  if (idProblem('tenant', tenant) !== undefined || call === '') return undefined;
  if (idProblem('conversationId', conversationId) !== undefined) return undefined;
  try {
    return {
      tenant: tenant ?? '',
      conversationId: conversationId ?? '',
      toolCallId: decodeURIComponent(call),
    };
  } catch {
    return undefined;
  }
}
