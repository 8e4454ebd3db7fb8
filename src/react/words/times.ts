/** Durations in words. Pure. */

const UNITS = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1_000, 's'],
] as const;

/** The two largest units, rounded down: `2 d 3 h`, `4 min 10 s`, `0 s`. A negative duration counts as none. */
export function durationWords(ms: number): string {
  const parts: string[] = [];
  let left = Math.max(0, ms);
  for (const [size, unit] of UNITS) {
    const count = Math.floor(left / size);
    left -= count * size;
    if (count > 0) parts.push(`${count} ${unit}`);
    else if (parts.length > 0) break;
    if (parts.length === 2) break;
  }
  return parts.length === 0 ? '0 s' : parts.join(' ');
}

/** `3 s ago`; a time that is not over yet by this clock is `just now`. */
export function agoWords(at: string, now: number): string {
  const ms = now - Date.parse(at);
  return ms < 1_000 ? 'just now' : `${durationWords(ms)} ago`;
}
