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
