/** Identities: who sends a request, for which tenants, and with which rights. */
import type { Request } from 'express';
import { stampActor } from '../../client/api/checks.js';
import type { Actor } from '../../protocol/values/actors.js';
import { idProblem } from '../../protocol/values/ids.js';

/**
 * Each route needs one right, which its row in the description of the API names. None includes another.
 *
 * | right | what it allows |
 * |---|---|
 * | `read` | lists, states, logs and streams, stored values, agents |
 * | `send` | messages, events, files, triggers; they may begin conversations; spaces, their members, and calls that a space shows to the caller |
 * | `answer` | decisions, answers, results, claims and progress of calls, and taking back remembered decisions |
 * | `extend` | later deadlines of calls that wait |
 * | `cancel` | to stop turns and what-ifs, and to close conversations |
 * | `delete` | to delete conversations and spaces for good |
 * | `codec` | to decode payloads of Temporal's histories |
 * | `admin` | what concerns the service as a whole, and lists of what waits for other actors |
 * | `act-as` | to name another actor in a body, and lists of what waits for that actor |
 */
export const RIGHTS = [
  'read',
  'send',
  'answer',
  'extend',
  'cancel',
  'delete',
  'codec',
  'admin',
  'act-as',
] as const;

export type Right = (typeof RIGHTS)[number];

/** `open`: no identity is needed. `any`: an identity, with any rights. */
export type RouteRight = Right | 'open' | 'any';

export interface Identity {
  /** Tenants whose conversations the caller may name; the first is the default when the query names none. */
  readonly tenants: readonly string[];
  /** The caller: the actor of all that it sends. */
  readonly actor: Actor;
  /** False where the id is a claim that nothing has proven. Calls may refuse such actors (`requireVerified`). */
  readonly verified: boolean;
  readonly rights: readonly Right[];
  /** Id of the only conversation that the caller may name. @defaultValue every conversation of its tenants */
  readonly conversation?: string;
  /** Streams of the caller end at this time. @defaultValue none */
  readonly expiresAt?: Date;
}

/**
 * Identifies the sender of a request by its headers. Undefined = unknown, which is answered 401. A rejection is
 * answered by its problem, or 500: no request gets in by it.
 */
export type Identify = (request: Request) => Identity | undefined | Promise<Identity | undefined>;

/** @throws {TypeError} naming the field that breaks a rule: an identity is made by code of the application */
export function checkIdentity(identity: Identity): void {
  const { tenants, rights, conversation, actor, expiresAt } = identity;
  for (const tenant of tenants) refuse('tenants', idProblem('tenant', tenant));
  if (conversation !== undefined) refuse('conversation', idProblem('id', conversation));
  for (const right of rights)
    refuse('rights', RIGHTS.includes(right) ? undefined : `${JSON.stringify(right)} is no right`);
  if (expiresAt !== undefined && Number.isNaN(expiresAt.getTime()))
    refuse('expiresAt', 'must be a time');
  try {
    stampActor(actor, 'api');
  } catch (error) {
    refuse('actor', error instanceof Error ? error.message : String(error));
  }
}

function refuse(field: string, problem: string | undefined): void {
  if (problem !== undefined) throw new TypeError(`${field} of an identity: ${problem}`);
}

export function isExpired({ expiresAt }: Identity): boolean {
  return expiresAt !== undefined && expiresAt.getTime() <= Date.now();
}

const developments = new WeakSet<Identify>();

/**
 * Marks a scheme that proves little, for development: `serve` opens its app on loopback only, requests under foreign
 * host names are refused, and the pages of Temporal's UI may decode compressed payloads without it.
 */
export function forDevelopment(identify: Identify): Identify {
  const marked: Identify = (request) => identify(request);
  developments.add(marked);
  return marked;
}

export function isForDevelopment(identify: Identify): boolean {
  return developments.has(identify);
}
