/** Which try of a request a caller is told of. */

type Repeated<Verdict> = Extract<
  Verdict,
  { readonly verdict: 'duplicate'; readonly first: unknown }
>;

/**
 * What a caller is told who asked once. Without a request id of his own nobody else has the one that was minted: what was accepted
 * under it was an earlier try of this very call, whose reply was lost on the way, as when its run rolled over. With one (`given`),
 * a `duplicate` stays what it is.
 */
export function toldOnce<Verdict extends { readonly verdict: string }>(
  verdict: Verdict,
  given: string | undefined,
): Verdict | Repeated<Verdict>['first'] {
  return given === undefined && isRepeated(verdict) ? verdict.first : verdict;
}

function isRepeated<Verdict extends { readonly verdict: string }>(
  verdict: Verdict,
): verdict is Repeated<Verdict> {
  return verdict.verdict === 'duplicate';
}
