/** Selects the verdict that a caller gets for a repeated request. */

type Repeated<Verdict> = Extract<
  Verdict,
  { readonly verdict: 'duplicate'; readonly first: unknown }
>;

/**
 * Returns the first verdict instead of `duplicate` if the caller passed no request id (`given`). No other caller has
 * the id that was created: the request accepted under it was an earlier try of this very call, whose reply was lost, as
 * when its run rolled over. With a given id, a `duplicate` is returned as it is.
 */
export function withoutOwnDuplicate<Verdict extends { readonly verdict: string }>(
  verdict: Verdict,
  given: string | undefined,
): Verdict | Repeated<Verdict>['first'] {
  return given === undefined ? firstOf(verdict) : verdict;
}

/** The verdict that was given under the request id first. */
export function firstOf<Verdict extends { readonly verdict: string }>(
  verdict: Verdict,
): Verdict | Repeated<Verdict>['first'] {
  return isRepeated(verdict) ? verdict.first : verdict;
}

function isRepeated<Verdict extends { readonly verdict: string }>(
  verdict: Verdict,
): verdict is Repeated<Verdict> {
  return verdict.verdict === 'duplicate';
}
