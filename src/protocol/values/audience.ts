/** Audiences: filters on the actors who may decide or answer, pinned in a call's plan. Runs anywhere. */

/**
 * A filter on actors. Matches an actor whose id is in `users` or who has one of `roles`; without both, every actor
 * matches. An actor in `exclude` never matches.
 */
export interface Audience {
  /** Ids of actors. */
  readonly users?: readonly string[];
  readonly roles?: readonly string[];
  /**
   * Ids of actors, or the word `'requester'`, which stands for every actor who sent a message of the turn. A four-eyes
   * rule needs `requireVerified` as well, since an unverified actor may claim any id.
   */
  readonly exclude?: readonly string[];
  /** Refuses actors whose id is not verified, such as those of signals sent by hand. */
  readonly requireVerified?: true;
  /** Audiences that must match as well; set by the engine when two rules apply to one call. */
  readonly also?: readonly Audience[];
}

/** In `exclude`, stands for every actor who sent a message of the turn. */
export const REQUESTER = 'requester';
