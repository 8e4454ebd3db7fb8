/** The report of inline reads against the same reads as activities. */

import {
  INLINE_BAR,
  type InlineCell,
  type InlineMeasured,
  type InlineShape,
} from '../measures/inline.js';
import { INLINE_CASES, INLINE_TITLES, type InlineResult } from '../shared/cells.js';
import { median } from '../shared/stats.js';
import { tableOf } from './report.js';

export function inlineReport({ cells, shapes }: InlineMeasured): string {
  const titles = INLINE_CASES.map((which) => `${which}: ${INLINE_TITLES[which]}`);
  const bar = `bar: turns/s with inline reads >= ${INLINE_BAR.throughput} of those without, in ${INLINE_BAR.case}`;
  return [...titles, bar, '', speeds(cells), '', costs(shapes)].join('\n');
}

function speeds(cells: readonly InlineCell[]): string {
  const rows = cells.map(({ case: which, lanes, rounds }) => {
    const of = (value: (round: InlineResult) => number): number => median(rounds.map(value));
    const ratio = of(({ plain, inline }) => inline.turnsPerSecond / plain.turnsPerSecond);
    return [
      which,
      String(lanes),
      of(({ inline }) => inline.turnsPerSecond).toFixed(1),
      of(({ plain }) => plain.turnsPerSecond).toFixed(1),
      ratio.toFixed(2),
      of(({ inline }) => inline.latency.p50).toFixed(1),
      of(({ plain }) => plain.latency.p50).toFixed(1),
      of(({ plain, inline }) => inline.latency.p50 / plain.latency.p50).toFixed(2),
      of(({ inline }) => inline.cpu['worker'] ?? 0).toFixed(1),
      of(({ plain }) => plain.cpu['worker'] ?? 0).toFixed(1),
      which === INLINE_BAR.case ? (ratio >= INLINE_BAR.throughput ? 'met' : 'missed') : '-',
    ];
  });
  return tableOf(
    [
      ...['case', 'at once', 'turns/s inline', 'plain', 'ratio', 'p50 ms inline', 'plain'],
      ...['ratio', 'worker ms inline', 'plain', 'bar'],
    ],
    rows,
  );
}

/** The operations of a turn in these cases that Temporal Cloud bills as actions. */
const ACTIONS = [
  'activityTaskScheduled',
  'timerStarted',
  'workflowExecutionUpdateAccepted',
  'upsertWorkflowSearchAttributes',
];

function costs(shapes: readonly InlineShape[]): string {
  const rows = shapes.flatMap(({ case: which, ...shape }) =>
    (['plain', 'inline'] as const).map((way) => {
      const { eventsPerTurn, bytesPerTurn, types } = shape[way];
      return [
        which,
        way,
        eventsPerTurn.toFixed(1),
        bytesPerTurn.toFixed(0),
        (types['workflowTaskCompleted'] ?? 0).toFixed(1),
        (types['activityTaskScheduled'] ?? 0).toFixed(1),
        ACTIONS.reduce((sum, type) => sum + (types[type] ?? 0), 0).toFixed(1),
      ];
    }),
  );
  const head = ['case', 'reads', 'events', 'bytes', 'workflow tasks', 'activities', 'actions'];
  return tableOf(head, rows);
}
