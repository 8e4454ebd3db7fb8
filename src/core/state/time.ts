/** ISO 8601 text of a clock reading in milliseconds. */
export function isoOf(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
