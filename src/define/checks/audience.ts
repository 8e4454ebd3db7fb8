/** Audiences as definitions and policies give them: judged whole, then in normal form. Runs anywhere. */

import { MAX_ACTOR_CHARS, MAX_AUDIENCE_NAMES } from '../../protocol/limits/limits.js';
import type { Audience } from '../../protocol/values/audience.js';
import { isRecord } from '../../protocol/values/json.js';
import { checkKeys, type ProblemList, shown } from './problems.js';

/**
 * Who may decide or answer. An actor who is named by `users` or has one of `roles` is in; where neither is given, everybody is.
 * Whoever `exclude` names is out all the same; the word `'requester'` stands for everybody who sent a message of the turn.
 */
export type AudienceSpec = Omit<Audience, 'also'>;

const LISTS = ['users', 'roles', 'exclude'] as const;

/** Adds every fault. One that admits nobody, or says nothing, is a fault: whoever wrote it meant something else. */
export function checkAudience(audience: unknown, field: string, problems: ProblemList): void {
  if (!isRecord(audience)) {
    problems.add(field, `must be an object such as {roles: ["lead"]}, got ${shown(audience)}`);
    return;
  }
  // Reserved for later work: taking them would promise that several approve, or that somebody else is asked in the end.
  const { quorum, escalation, ...known } = audience;
  for (const [later, value] of Object.entries({ quorum, escalation }))
    if (value !== undefined) problems.add(`${field}.${later}`, 'is not yet supported');
  checkKeys(problems, known, { prefix: `${field}.`, allowed: [...LISTS, 'requireVerified'] });
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
    problems.add(field, 'must say who: users, roles, exclude or requireVerified');
  if (roles === undefined && Array.isArray(users) && Array.isArray(exclude) && users.length > 0)
    if (users.every((user) => exclude.includes(user)))
      problems.add(field, 'admits nobody: every user is excluded');
}

/** The audience's own copy of what `checkAudience` took. */
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
  if (names.length === 0) return 'must name somebody, or be left out';
  if (names.length > MAX_AUDIENCE_NAMES)
    return `must name at most ${MAX_AUDIENCE_NAMES}, got ${names.length}`;
  const isName = (name: unknown): boolean =>
    typeof name === 'string' && name !== '' && name.length <= MAX_ACTOR_CHARS;
  return (names as readonly unknown[]).every(isName)
    ? undefined
    : `must hold texts of 1 to ${MAX_ACTOR_CHARS} characters`;
}
