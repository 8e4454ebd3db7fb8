/** Deadlines of calls, which are durations with a unit. Runs anywhere. */
import { type DurationBounds, durationProblem } from '../../protocol/values/durations.js';

/** Numbers below are refused: `run: 30` is 30 milliseconds, and its author hardly ever meant that. */
const LEAST_NUMBER_MS = 1_000;

/** As `durationProblem`; a number of less than a second has to be a text with its unit. */
export function deadlineProblem(value: unknown, bounds: DurationBounds): string | undefined {
  const problem = durationProblem(value, bounds);
  if (problem !== undefined || typeof value !== 'number' || value >= LEAST_NUMBER_MS)
    return problem;
  return `needs its unit, such as '${value}s' or '${value}ms': a number is milliseconds`;
}
