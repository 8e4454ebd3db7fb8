/** The report of conversations made of parts. */
import type { PartsCell } from '../measures/parts.js';
import { type InlineResult, PARTS } from '../shared/cells.js';
import { median } from '../shared/stats.js';
import { tableOf } from './report.js';

export function partsReport(cells: readonly PartsCell[]): string {
  const rows = cells.map(({ case: which, rounds }) => {
    const of = (value: (round: InlineResult) => number): number => median(rounds.map(value));
    const ratio = of(({ plain, inline }) => inline.turnsPerSecond / plain.turnsPerSecond);
    const { title, bar } = PARTS[which];
    return [
      title,
      of(({ inline }) => inline.turnsPerSecond).toFixed(2),
      of(({ plain }) => plain.turnsPerSecond).toFixed(2),
      ratio.toFixed(2),
      String(bar),
      ratio >= bar ? 'met' : 'missed',
    ];
  });
  return tableOf(['case', 'a second', 'without', 'ratio', 'bar', 'result'], rows);
}
