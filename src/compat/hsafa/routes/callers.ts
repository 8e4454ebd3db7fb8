/** Senders of requests, by the API's own schemes of identity. Runs in Node. */
import type { Request } from 'express';
import type { Actor, StampedActor } from '../../../protocol/values/actors.js';
import { isRecord } from '../../../protocol/values/json.js';

/** The fields of an identity of `colloquy/http` that are used here. */
export interface CallerIdentity {
  readonly tenants: readonly string[];
  readonly actor: Actor;
  readonly verified: boolean;
  readonly rights: readonly string[];
  /** The only conversation that the caller may name. */
  readonly conversation?: string;
  readonly expiresAt?: Date;
}

/** Undefined: the sender is unknown. */
export type Identify = (
  request: Request,
) => CallerIdentity | undefined | Promise<CallerIdentity | undefined>;

export interface Caller {
  /** The tenant that the request names (`?tenant`), or the caller's first. */
  readonly tenant: string;
  readonly actor: StampedActor;
  readonly rights: readonly string[];
  readonly conversation?: string;
  readonly expiresAt?: Date;
}

/** An answer whose body is JSON. */
export interface Answer {
  readonly status: number;
  readonly body: object;
}

export function refusal(status: number, error: string): Answer {
  return { status, body: { error } };
}

/** Whether a value is an answer, and not what was asked for. */
export function isAnswer(value: object): value is Answer {
  return 'status' in value && 'body' in value;
}

/**
 * Shows the key of `x-secret-key`, the header of the gateway, where every scheme of the API reads it. A request that
 * has both headers is judged by `Authorization`.
 */
function readSecretKey({ headers }: Request): void {
  const key = headers['x-secret-key'];
  if (typeof key === 'string') headers.authorization ??= `Bearer ${key}`;
}

/** The caller, who has one of the rights, or the refusal, which names the first. */
export async function callerOf(
  identify: Identify,
  request: Request,
  ...rights: readonly ('admin' | 'answer' | 'read' | 'send')[]
): Promise<Caller | Answer> {
  readSecretKey(request);
  const identity = await identify(request);
  const { expiresAt } = identity ?? {};
  if (identity === undefined || (expiresAt !== undefined && expiresAt.getTime() <= Date.now()))
    return refusal(401, 'The request has no valid credentials');
  if (!rights.some((right) => identity.rights.includes(right))) return lacks(rights[0] ?? '');
  const { tenants, actor, verified, conversation } = identity;
  const named = request.query['tenant'];
  const tenant = named === undefined ? tenants[0] : tenants.find((it) => it === named);
  if (tenant === undefined) return refusal(403, 'The caller may not name this tenant');
  const { id, name, roles } = actor;
  return {
    tenant,
    rights: identity.rights,
    actor: {
      id,
      ...(name === undefined ? {} : { name }),
      ...(roles === undefined ? {} : { roles }),
      verified,
      channel: 'api',
    },
    ...(conversation === undefined ? {} : { conversation }),
    ...(expiresAt === undefined ? {} : { expiresAt }),
  };
}

export function lacks(right: string): Answer {
  return refusal(403, `The caller lacks the right "${right}"`);
}

/** The answer to an error of the client, by its code; undefined for any other error. */
export function answerToError(error: unknown): Answer | undefined {
  const { code, httpStatus, message } = (isRecord(error) ? error : {}) as {
    readonly code?: unknown;
    readonly httpStatus?: unknown;
    readonly message?: unknown;
  };
  return typeof code === 'string' && typeof httpStatus === 'number'
    ? { status: httpStatus, body: { error: String(message), code } }
    : undefined;
}
