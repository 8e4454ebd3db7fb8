/** The header `Retry-After`, by which providers and HTTP servers ask for a pause. Runs anywhere; the clock is the caller's. */

/**
 * Milliseconds from `now`, given as seconds or as a date; a date that has passed gives 0. Undefined for nothing and nonsense.
 * @see https://www.rfc-editor.org/rfc/rfc9110#field.retry-after
 */
export function retryAfterMs(header: string | undefined, now: number): number | undefined {
  const text = header?.trim();
  if (text === undefined || text === '') return undefined;
  if (/^[0-9]+(?:\.[0-9]+)?$/.test(text)) return Number(text) * 1000;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}
