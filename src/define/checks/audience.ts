/** Audiences as definitions and policies give them: validated as a whole, then in normal form. Runs anywhere. */

import { MAX_ACTOR_CHARS, MAX_AUDIENCE_NAMES } from '../../protocol/limits/limits.js';
import type { Audience } from '../../protocol/values/audience.js';
import { isRecord } from '../../protocol/values/json.js';
import { checkKeys, type ProblemList, shown } from './problems.js';

/**
 * A filter on the actors who may decide or answer. Matches an actor whose id is in `users` or who has one of `roles`;
 * without both, every actor. An actor in `exclude` never matches; the word `'requester'` stands for every actor who
 * sent a message of the turn.
 */
export type AudienceSpec = Omit<Audience, 'also'>;

const LISTS = ['users', 'roles', 'exclude'] as const;

/**
 * Adds every fault. An audience that admits no actor, or sets no field, is a fault, since its author meant something
 * else.
 */
export function checkAudience(audience: unknown, field: string, problems: ProblemList): void {
  if (!isRecord(audience)) {
    problems.add(field, `must be an object such as {roles: ["lead"]}, got ${shown(audience)}`);
    return;
  }
  checkKeys(problems, audience, { prefix: `${field}.`, allowed: [...LISTS, 'requireVerified'] });
  for (const list of LISTS) {
    const rule = namesRule(audience[list]);
    problems.addIf(`${field}.${list}`, rule);
  }
  const { users, roles, exclude, requireVerified } = audience;
  if (requireVerified !== undefined && requireVerified !== true)
    problems.add(
      `${field}.requireVerified`,
      `must be true or left out, got ${shown(requireVerified)}`,
    );
  if ([users, roles, exclude, requireVerified].every((value) => value === undefined))
    problems.add(field, 'must have one of users, roles, exclude or requireVerified');
  if (roles === undefined && Array.isArray(users) && Array.isArray(exclude) && users.length > 0)
    if (users.every((user) => exclude.includes(user)))
      problems.add(field, 'admits no actor: every user is excluded');
}

/** A copy of an audience that `checkAudience` accepted. */
export function audienceOf(audience: Readonly<Record<string, unknown>>): Audience {
  const { users, roles, exclude, requireVerified } = audience as AudienceSpec;
  return {
    ...(users === undefined ? {} : { users: [...users] }),
    ...(roles === undefined ? {} : { roles: [...roles] }),
    ...(exclude === undefined ? {} : { exclude: [...exclude] }),
    ...(requireVerified === undefined ? {} : { requireVerified }),
  };
}

function namesRule(names: unknown): string | undefined {
  if (names === undefined) return undefined;
  if (!Array.isArray(names)) return `must be a list of texts, got ${shown(names)}`;
  if (names.length === 0) return 'must not be empty; leave it out instead';
  if (names.length > MAX_AUDIENCE_NAMES)
    return `must name at most ${MAX_AUDIENCE_NAMES}, got ${names.length}`;
  const isName = (name: unknown): boolean =>
    typeof name === 'string' && name !== '' && name.length <= MAX_ACTOR_CHARS;
  return (names as readonly unknown[]).every(isName)
    ? undefined
    : `must hold texts of 1 to ${MAX_ACTOR_CHARS} characters`;
}
