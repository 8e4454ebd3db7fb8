/** Joins the audiences of the rules that apply to one call. Runs in the worker. */
import type { Audience } from '../../protocol/values/audience.js';

/**
 * The audience of the actors who match all of `audiences`; an absent one matches every actor. Returns `'none'` where
 * the fields show that no actor can match, and undefined when all are absent. Users and roles of two audiences are kept
 * apart in `also`, since an actor may match one as a user and the other by a role.
 */
export function joinAudiences(
  audiences: readonly (Audience | undefined)[],
): Audience | 'none' | undefined {
  let all: Audience | undefined;
  for (const audience of audiences) {
    if (audience === undefined) continue;
    all = all === undefined ? audience : joinTwo(all, audience);
    if (all.roles === undefined && all.users !== undefined) {
      const { users, exclude } = all;
      if (users.every((user) => exclude?.includes(user) === true)) return 'none';
    }
  }
  return all;
}

function joinTwo(left: Audience, right: Audience): Audience {
  const { users, roles, exclude, requireVerified, also } = right;
  const excluded = [...new Set([...(left.exclude ?? []), ...(exclude ?? [])])];
  const rest: Audience = {
    ...(excluded.length === 0 ? {} : { exclude: excluded }),
    ...(left.requireVerified === true || requireVerified === true ? { requireVerified: true } : {}),
  };
  const others = [...(left.also ?? []), ...(also ?? [])];
  const both = joinNames(left, { ...(users && { users }), ...(roles && { roles }) });
  const alsoIn = [...(both.also ?? []), ...others];
  return { ...both, ...rest, ...(alsoIn.length === 0 ? {} : { also: alsoIn }) };
}

function joinNames(left: Audience, right: Audience): Audience {
  const { users, roles } = left;
  const named: Audience = { ...(users && { users }), ...(roles && { roles }) };
  if (users === undefined && roles === undefined) return right;
  if (right.users === undefined && right.roles === undefined) return named;
  if (users !== undefined && right.users !== undefined && !roles && !right.roles)
    return { users: users.filter((user) => right.users?.includes(user)) };
  return { ...named, also: [right] };
}
