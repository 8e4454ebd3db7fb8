/** API keys: secrets of services, of which the store keeps only digests. */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Request } from 'express';
import { LRUCache } from 'lru-cache';
import { stampActor } from '../../client/api/checks.js';
import { invalidField } from '../../client/api/errors.js';
import { idProblem } from '../../protocol/values/ids.js';
import type { ApiKeyRecord, ApiKeyStore } from '../../store/ports/service/api-keys.js';
import { type Identify, type Identity, RIGHTS, type Right } from './identity.js';
import { bearerOf } from './secrets.js';

const ID_BYTES = 8;
const SECRET_BYTES = 32;
const KEY = /^clq_([0-9a-f]{16})_([\w-]{43})$/;
/** Keys that a process remembers. */
const MAX_CACHED = 10_000;
/** A revoked key is refused after this time, in milliseconds. */
export const KEY_CACHE_MS = 5_000;

export interface NewKey {
  /** Id of the actor of all that is sent with the key. */
  readonly name: string;
  readonly tenants: readonly string[];
  readonly roles: readonly string[];
  readonly rights: readonly Right[];
  readonly expiresAt?: Date;
}

/** A record, and the key itself, which nothing but its holder keeps. */
export interface MintedKey {
  readonly key: string;
  readonly record: ApiKeyRecord;
}

/** A process remembers the record of an id, or that there is none. */
interface Known {
  readonly record: ApiKeyRecord | undefined;
}

/** @throws {ConversationError} invalid_request naming the field that breaks a rule */
export async function createKey(store: ApiKeyStore, given: NewKey): Promise<MintedKey> {
  const { name, tenants, roles, rights, expiresAt } = given;
  stampActor({ id: name, roles }, 'api', 'name');
  if (tenants.length === 0) throw invalidField('/tenants', 'must name at least one');
  for (const tenant of tenants) {
    const problem = idProblem('tenant', tenant);
    if (problem !== undefined) throw invalidField('/tenants', problem);
  }
  const unknown = rights.find((right) => !RIGHTS.includes(right));
  if (unknown !== undefined || rights.length === 0)
    throw invalidField('/rights', `must be some of ${RIGHTS.join(', ')}`);
  if (expiresAt !== undefined && expiresAt.getTime() <= Date.now())
    throw invalidField('/expiresAt', 'must be in the future');
  const id = randomBytes(ID_BYTES).toString('hex');
  const secret = newSecret();
  const record: ApiKeyRecord = {
    ...{ id, name, tenants, roles, rights },
    hash: digestOf(secret).toString('hex'),
    createdAt: new Date().toISOString(),
    ...(expiresAt === undefined ? {} : { expiresAt: expiresAt.toISOString() }),
  };
  if (!(await store.add(record))) return await createKey(store, given);
  return { key: textOf(id, secret), record };
}

/**
 * Gives the key a new secret. The old one is valid for `graceMs` more, the one before it no longer. Undefined if there
 * is no such key. @throws {ConversationError} invalid_request for a key that is revoked or expired
 */
export async function rotateKey(
  store: ApiKeyStore,
  id: string,
  { graceMs }: { readonly graceMs: number },
): Promise<MintedKey | undefined> {
  const secret = newSecret();
  const record = await store.change(id, (before) => {
    if (before.revokedAt !== undefined)
      throw invalidField('/id', 'must be a key that is not revoked');
    if (isPast(before.expiresAt))
      throw invalidField('/id', 'must be a key that has not expired: make another one');
    const now = Date.now();
    return {
      ...before,
      hash: digestOf(secret).toString('hex'),
      previous: { hash: before.hash, until: new Date(now + graceMs).toISOString() },
      rotatedAt: new Date(now).toISOString(),
    };
  });
  return record === undefined ? undefined : { key: textOf(id, secret), record };
}

/** Safe to repeat: the first time counts. Undefined if there is no such key. */
export async function revokeKey(store: ApiKeyStore, id: string): Promise<ApiKeyRecord | undefined> {
  return await store.change(id, (before) => ({
    ...before,
    revokedAt: before.revokedAt ?? new Date().toISOString(),
  }));
}

/** Whether a request is sent with the form of an API key. */
export function isApiKey(request: Request): boolean {
  return KEY.test(bearerOf(request) ?? '');
}

/**
 * Identifies callers by `Authorization: Bearer clq_...`. A process remembers a key for `cacheMs` (five seconds), so a
 * revoked key is refused within that time; a new secret counts at once. While the store cannot be read, keys that are
 * not remembered are answered 503.
 * @throws {RangeError} when `cacheMs` is not positive
 */
export function apiKeys(
  store: ApiKeyStore,
  { cacheMs = KEY_CACHE_MS }: { readonly cacheMs?: number } = {},
): Identify {
  if (!(cacheMs > 0)) throw new RangeError('apiKeys: cacheMs must be greater than 0');
  const cache = new LRUCache<string, Known>({
    max: MAX_CACHED,
    ttl: cacheMs,
    fetchMethod: async (id) => ({ record: await store.find(id) }),
  });
  return async (request) => {
    const [, id, secret] = KEY.exec(bearerOf(request) ?? '') ?? [];
    if (id === undefined || secret === undefined) return undefined;
    const status: LRUCache.Status<string, Known> = {};
    const known = identityOfKey((await cache.fetch(id, { status }))?.record, secret);
    if (known !== undefined || !OLDER.includes(status.fetch)) return known;
    // The key may have got this secret a moment ago, behind the read that had this record.
    return identityOfKey((await cache.fetch(id, { forceRefresh: true }))?.record, secret);
  };
}

/** The record was remembered, or comes from a read that another request began: both may be older than this request. */
const OLDER: readonly unknown[] = ['hit', 'inflight'];

function identityOfKey(record: ApiKeyRecord | undefined, secret: string): Identity | undefined {
  if (record === undefined) return undefined;
  const { name, tenants, roles, rights, hash, previous, expiresAt, revokedAt } = record;
  if (revokedAt !== undefined || isPast(expiresAt)) return undefined;
  const isCurrent = isDigest(secret, hash);
  const isPrevious =
    previous !== undefined && isDigest(secret, previous.hash) && !isPast(previous.until);
  if (!isCurrent && !isPrevious) return undefined;
  const until = isCurrent ? expiresAt : earlier(previous?.until, expiresAt);
  return {
    tenants,
    actor: { id: name, roles },
    verified: true,
    // A right that a later version added is none here.
    rights: RIGHTS.filter((right) => rights.includes(right)),
    ...(until === undefined ? {} : { expiresAt: new Date(until) }),
  };
}

function isPast(time: string | undefined): boolean {
  return time !== undefined && Date.parse(time) <= Date.now();
}

function earlier(one: string | undefined, other: string | undefined): string | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return Date.parse(one) < Date.parse(other) ? one : other;
}

function isDigest(secret: string, hash: string): boolean {
  const expected = Buffer.from(hash, 'hex');
  const given = digestOf(secret);
  return expected.length === given.length && timingSafeEqual(given, expected);
}

function digestOf(secret: string): Buffer {
  return createHash('sha256').update(secret).digest();
}

function newSecret(): string {
  return randomBytes(SECRET_BYTES).toString('base64url');
}

function textOf(id: string, secret: string): string {
  return `clq_${id}_${secret}`;
}
