/** Durations as people write them, in the public API only: wire formats have `...Ms` numbers. Runs anywhere. */
import ms from 'ms';

/** Milliseconds, or a text such as `'30s'`, `'15 minutes'` or `'2 days'`. @see https://github.com/vercel/ms */
export type Duration = number | ms.StringValue;

export interface DurationBounds {
  readonly minMs: number;
  readonly maxMs: number;
}

/** Milliseconds, rounded to whole ones; undefined when the value is no duration. Never throws. */
export function durationMs(value: unknown): number | undefined {
  const parsed = typeof value === 'string' ? textMs(value) : value;
  return typeof parsed === 'number' && Number.isFinite(parsed) ? Math.round(parsed) : undefined;
}

/** The reason why a duration cannot be used; undefined when it can. Bounds are inclusive. */
export function durationProblem(value: unknown, bounds: DurationBounds): string | undefined {
  const parsed = durationMs(value);
  if (parsed === undefined)
    return `must be milliseconds or a text like "30s" or "2 days", got ${textOf(value)}`;
  if (parsed < bounds.minMs)
    return `must be at least ${ms(bounds.minMs, { long: true })}, got ${textOf(value)}`;
  if (parsed > bounds.maxMs)
    return `must be at most ${ms(bounds.maxMs, { long: true })}, got ${textOf(value)}`;
  return undefined;
}

function textMs(text: string): number | undefined {
  // A text without a unit would be read as milliseconds, which is hardly ever what its author meant.
  if (/^[\s\d.]*$/.test(text) || text.length > 100) return undefined;
  return ms(text as ms.StringValue);
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? `"${value.slice(0, 60)}"` : String(value);
}
