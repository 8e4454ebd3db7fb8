/** The spread of measured values. */
import type { Spread } from './cells.js';

export function spreadOf(values: readonly number[]): Spread {
  return spreadOfWeighted(values.map((value) => ({ value, weight: 1 })));
}

export function spreadOfWeighted(
  values: readonly { readonly value: number; readonly weight: number }[],
): Spread {
  const sorted = values.toSorted((left, right) => left.value - right.value);
  const whole = sorted.reduce((sum, { weight }) => sum + weight, 0);
  const at = (part: number): number => {
    let below = 0;
    const found = sorted.find(({ weight }) => {
      below += weight;
      return below >= whole * part;
    });
    return found?.value ?? Number.NaN;
  };
  return { p50: at(0.5), p95: at(0.95), max: sorted.at(-1)?.value ?? Number.NaN };
}
