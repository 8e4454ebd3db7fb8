/** Secrets of tenants and users, and connections that are opened with them. Runs anywhere. */
import type { StampedActor } from '../../protocol/values/actors.js';
import { type Duration, durationMs, durationProblem } from '../../protocol/values/durations.js';
import { ProblemList } from '../checks/problems.js';

/** The actor who sent the message of the turn. Others may have the same id where it is not verified. */
export type SecretUser = Pick<StampedActor, 'id' | 'verified'>;

/** The secret that a tool asks for. */
export interface SecretRequest {
  readonly name: string;
  readonly tenant: string;
  /** The actor who sent the message of the turn. Absent for a connection that all users of a tenant share. */
  readonly user?: SecretUser;
}

/**
 * Finds a secret; undefined when there is none. Called in the worker, once for each name and call. When it throws, the
 * run of the tool ends, and is tried again where its `maxAttempts` allow. The text of its error is never shown.
 */
export type SecretResolver = (
  request: SecretRequest,
) => string | undefined | Promise<string | undefined>;

/** The owner for whom a connection is opened. */
export interface ConnectionOwner {
  readonly tenant: string;
  /** Present unless all users of the tenant share the connection. */
  readonly user?: SecretUser;
  /** Finds a secret of this owner. Every later call that uses the connection keeps it out of results, too. */
  secret(name: string): Promise<string>;
}

export interface ConnectionSpec<Opened> {
  /** Named in errors and logs. */
  readonly name: string;
  /** `user`: each user of a tenant has one of their own. @defaultValue 'user' */
  readonly per?: 'tenant' | 'user';
  readonly open: (owner: ConnectionOwner) => Opened | Promise<Opened>;
  /** Called when no call has used it for `idle`, and at the worker's end. */
  readonly close?: (opened: Opened) => unknown;
  /** @defaultValue 10 minutes */
  readonly idle?: Duration;
}

/** A connection of tenants or users; made by `defineConnection` only. */
export interface Connection<Opened> {
  readonly kind: 'connection';
  readonly name: string;
  readonly per: 'tenant' | 'user';
  readonly open: (owner: ConnectionOwner) => Opened | Promise<Opened>;
  readonly close: (opened: Opened) => unknown;
  readonly idleMs: number;
}

const DEFAULT_IDLE_MS = 10 * 60_000;
const BOUNDS = { minMs: 0, maxMs: Number.MAX_SAFE_INTEGER };

/**
 * Declares a connection that tools use by `ctx.connection(github)`. A worker opens one for each owner, shares it between
 * calls, and closes it when it is not used.
 * @throws {DefinitionError}
 * @example
 * const github = defineConnection({
 *   name: 'github',
 *   open: async ({ secret }) => new Octokit({ auth: await secret('github token') }),
 * });
 */
export function defineConnection<Opened>(spec: ConnectionSpec<Opened>): Connection<Opened> {
  const { name, per = 'user', open, close = () => undefined, idle = DEFAULT_IDLE_MS } = spec;
  const problems = new ProblemList();
  if (typeof name !== 'string' || name === '') problems.add('name', 'must be a non-empty text');
  if (!['tenant', 'user'].includes(per)) problems.add('per', 'must be "tenant" or "user"');
  if (typeof open !== 'function') problems.add('open', 'must be a function');
  if (typeof close !== 'function') problems.add('close', 'must be a function');
  problems.addIf('idle', durationProblem(idle, BOUNDS));
  problems.throwIfAny(`connection ${JSON.stringify(name)}`);
  const idleMs = durationMs(idle) ?? DEFAULT_IDLE_MS;
  return Object.freeze({ kind: 'connection', name, per, open, close, idleMs });
}
