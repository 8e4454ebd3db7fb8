/** Measures while the machine is quiet, and repeats a measurement that other processes disturbed. */
import { untilCalm } from '../load/cpu.js';

/** A measurement with a larger share of other processes is repeated, at most twice. */
const MAX_FOREIGN_CPU = 0.1;
const MAX_REPEATS = 2;

/**
 * @param round One measurement of both sides; `foreignCpu` is the share of the machine that others took.
 * @returns the last measurement, and notes for the operator
 */
export async function undisturbed<Result extends { readonly foreignCpu: number }>(
  patienceMs: number,
  round: () => Promise<readonly Result[]>,
): Promise<{ readonly results: readonly Result[]; readonly notes: readonly string[] }> {
  const notes: string[] = [];
  for (let repeats = 0; ; repeats += 1) {
    await untilCalm(MAX_FOREIGN_CPU, patienceMs);
    const results = await round();
    const foreign = Math.max(...results.map(({ foreignCpu }) => foreignCpu));
    if (foreign <= MAX_FOREIGN_CPU) return { results, notes };
    notes.push(`others took ${(100 * foreign).toFixed(0)} % of the machine`);
    if (repeats >= MAX_REPEATS) return { results, notes };
  }
}
