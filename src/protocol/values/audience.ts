/** Who may decide or answer: data, pinned in a call's plan. Runs anywhere. */

/**
 * A filter on actors. One who is named by `users` or has one of `roles` is in; where neither is given, everybody is. Whoever
 * `exclude` names is out all the same.
 */
export interface Audience {
  /** Ids of actors. */
  readonly users?: readonly string[];
  readonly roles?: readonly string[];
  /**
   * Ids of actors, and the word `'requester'`: whoever sent a message of the turn. Four eyes want this together with
   * `requireVerified`, since an unverified actor may claim any id.
   */
  readonly exclude?: readonly string[];
  /** Refuses actors whose id nobody checked, such as those of signals sent by hand. */
  readonly requireVerified?: true;
  /** Audiences that an actor must be in as well; made by the engine when two rules ask for one call. */
  readonly also?: readonly Audience[];
}

/** Stands in `exclude` for everybody who sent a message of the turn. */
export const REQUESTER = 'requester';

/**
 * Who is in all of them; `'nobody'` where that is plain to see. Absent ones admit anybody. Users and roles of two audiences are
 * kept apart in `also`, since an actor may be in one as a user and in the other by a role.
 */
export function joinAudiences(
  audiences: readonly (Audience | undefined)[],
): Audience | 'nobody' | undefined {
  let all: Audience | undefined;
  for (const audience of audiences) {
    if (audience === undefined) continue;
    all = all === undefined ? audience : joinTwo(all, audience);
    if (all.roles === undefined && all.users !== undefined) {
      const { users, exclude } = all;
      if (users.every((user) => exclude?.includes(user) === true)) return 'nobody';
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
