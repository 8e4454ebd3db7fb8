/** Ids: their alphabet, and how workflow ids and refs are composed of them. Runs anywhere. */
import {
  MAX_CALL_ID_CHARS,
  MAX_ID_CHARS,
  MAX_NAME_BYTES,
  MAX_REQUEST_ID_CHARS,
} from '../limits/limits.js';
import type { FieldProblem } from './field-problem.js';
import { utf8Bytes } from './json.js';
import { wellFormed } from './well-formed.js';

export type ConversationId = string;
export type TurnId = string;
export type MessageId = string;
export type ToolCallId = string;
/** One model call of a turn and the calls that it asked for: `<turnId>.<step>`. */
export type StepId = string;

export const DEFAULT_TENANT = 'default';

const ID = /^[A-Za-z0-9_.-]+$/;
const CALL_ID = /^[A-Za-z0-9_.:|~-]+$/;

/** The reason why a tenant, conversation or agent id cannot be used; undefined when it can. */
export function idProblem(field: string, value: unknown): string | undefined {
  if (typeof value !== 'string' || value === '') return `${field} must be a non-empty string`;
  if (value.length > MAX_ID_CHARS)
    return `${field} must be at most ${MAX_ID_CHARS} characters, got ${value.length}`;
  if (!ID.test(value)) return `${field} may hold only letters, digits, "_", "." and "-"`;
  return undefined;
}

/**
 * The reason why a request id cannot be used; undefined when it can. Any text is allowed, since job ids come in all
 * shapes.
 */
export function requestIdProblem(field: string, value: unknown): string | undefined {
  if (typeof value !== 'string' || value === '') return `${field} must be a non-empty string`;
  if (value.length > MAX_REQUEST_ID_CHARS)
    return `${field} must be at most ${MAX_REQUEST_ID_CHARS} characters, got ${value.length}`;
  return undefined;
}

/** The request id, where it can be used. */
export function usableRequestId(value: unknown): string | undefined {
  return requestIdProblem('', value) === undefined ? String(value) : undefined;
}

/** The problem of a request whose id was accepted before with other content. */
export const REUSED: FieldProblem = {
  path: '/requestId',
  message: 'was used before for a request with other content; each request needs an id of its own',
};

/** Whether the engine keeps a provider's call id: it does when the id is short and plain, else it mints its own. */
export function isUsableCallId(value: string): boolean {
  return value.length <= MAX_CALL_ID_CHARS && CALL_ID.test(value);
}

/**
 * Whether the server takes the value as the name of a task queue. A workflow that schedules an activity on another one
 * fails its task for ever.
 */
export function isTaskQueue(value: unknown): value is string {
  return (
    typeof value === 'string' &&
    value !== '' &&
    !value.startsWith('/_sys/') &&
    value === wellFormed(value) &&
    utf8Bytes(value) <= MAX_NAME_BYTES
  );
}

export interface ConversationKey {
  readonly tenant: string;
  readonly conversationId: ConversationId;
}

/** The conversations that a caller may name: all of these tenants, or one of them. */
export interface NameableKeys {
  readonly tenants: readonly string[];
  readonly conversationId?: ConversationId | undefined;
}

/** `tenant/conversation`: the key of a conversation in stores, caches and live channels. */
export function conversationKey(key: ConversationKey): string {
  return `${key.tenant}/${key.conversationId}`;
}

/** The workflow id `conversation:<tenant>:<conversationId>`. Temporal keeps it for ever. */
export function workflowIdFor(key: ConversationKey): string {
  return `${workflowIdPrefixOf(key.tenant)}${key.conversationId}`;
}

/** The prefix that the workflow ids of this tenant have, and those of no other. */
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
 * The chain: the name of one incarnation of a conversation, from its first run through all roll-overs.
 * Taken from the random end of the first run's UUID, because the start may be a time stamp.
 */
export function chainOf(firstRunId: string): string {
  return firstRunId.replaceAll('-', '').slice(-12);
}

/** A turn id, unique over all conversations because the chain is. `token` differs when a reset decides a turn again. */
export function turnIdFor(chain: string, ordinal: number, token?: string): TurnId {
  const id = `turn_${chain}_${ordinal}`;
  return token === undefined ? id : `${id}_${token}`;
}

/** The id of the message that begins a turn. */
export function firstMessageId(turnId: TurnId): MessageId {
  return `${turnId}.user`;
}

/**
 * Whether a turn came before another. Only turns of one chain have an order. Two turns of the same number (one was
 * decided again after a reset) have none. False when either text is no turn id.
 */
export function isEarlierTurn(turnId: TurnId, than: TurnId | undefined): boolean {
  const [one, other] = [placeOf(turnId), placeOf(than ?? '')];
  if (one === undefined || other === undefined || one.chain !== other.chain) return false;
  return one.ordinal < other.ordinal;
}

/** The inverse of `turnIdFor`, without the token. */
function placeOf(turnId: TurnId): { chain: string; ordinal: number } | undefined {
  const parts = /^turn_([A-Za-z0-9-]+)_([1-9]\d*)(?:_[A-Za-z0-9]+)?$/.exec(turnId);
  return parts === null ? undefined : { chain: parts[1] ?? '', ordinal: Number(parts[2]) };
}

/** A step id, unique over all conversations, too, since steps are counted within their turn. */
export function stepIdFor(turnId: TurnId, step: number): StepId {
  return `${turnId}.${step}`;
}

/** The inverse of `stepIdFor`. Undefined when the text is no step id. */
export function parseStepId(text: string): { turnId: TurnId; step: number } | undefined {
  const parts = /^([A-Za-z0-9_-]+)\.([1-9]\d{0,5})$/.exec(text);
  return parts === null ? undefined : { turnId: parts[1] ?? '', step: Number(parts[2]) };
}

/** Characters of the arguments' digest in an idempotency key: enough to distinguish two inputs. */
const KEY_DIGEST_CHARS = 16;

/**
 * The key that a side-effecting tool should pass on to the service it calls. Stable over retries, kills and roll-overs;
 * different as soon as call, arguments or incarnation differ. The turn id is unique over all conversations; the step
 * guards against providers that number their calls anew; the digest guards against a model that asks for something else
 * after a reset.
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

/** An opaque text that names one call of a conversation, for links, buttons and queues. */
export function formatRef(ref: CallRef): string {
  return `${ref.tenant}~${ref.conversationId}~${encodeURIComponent(ref.toolCallId)}`;
}

/** The inverse of `formatRef`. Undefined when the text is no ref. */
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
