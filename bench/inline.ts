/** Inline reads against the same reads as activities: both on the engine, alternating slice by slice. */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type CellResult,
  INLINE_CASES,
  INLINE_TITLES,
  type InlineCase,
  type InlineRequest,
  type InlineResult,
  type ShapeResult,
} from './cells.js';
import type { Bench } from './processes.js';
import { tableOf } from './report.js';
import { median } from './stats.js';
import { undisturbed } from './undisturbed.js';

/** The required throughput of inline reads relative to activities, in the case with a bar. */
export const INLINE_BAR = { case: 'c', throughput: 1.2 } as const;

export interface InlineOptions {
  readonly rounds: number;
  readonly slices: number;
  readonly lanes: readonly number[];
  readonly turns: number;
  readonly patienceMs: number;
  readonly settleMs: number;
}

export interface InlineCell {
  readonly case: InlineCase;
  readonly lanes: number;
  readonly rounds: readonly InlineResult[];
}

export interface InlineShape {
  readonly case: InlineCase;
  readonly plain: ShapeResult;
  readonly inline: ShapeResult;
}

export interface InlineMeasured {
  readonly cells: readonly InlineCell[];
  readonly shapes: readonly InlineShape[];
}

export async function measureInlineReads(
  bench: Bench,
  options: InlineOptions,
): Promise<InlineMeasured> {
  const { turns, slices } = options;
  const shapes: InlineShape[] = [];
  for (const which of INLINE_CASES) {
    const about = { type: 'shape', side: 'engine', turns } as const;
    const plain = await bench.ask<ShapeResult>({ ...about, workload: which });
    const inline = await bench.ask<ShapeResult>({ ...about, workload: `${which}-inline` });
    shapes.push({ case: which, plain, inline });
  }
  const all = INLINE_CASES.flatMap((which) =>
    options.lanes.map((lanes) => ({ case: which, lanes })),
  );
  const rounds: InlineResult[][] = all.map(() => []);
  for (let round = 1; round <= options.rounds; round += 1)
    for (const [index, cell] of all.entries()) {
      const request = { ...cell, turnsPerConversation: turns, slices };
      rounds[index]?.push(await measureRound(bench, request, options));
    }
  return { cells: all.map((cell, index) => ({ ...cell, rounds: rounds[index] ?? [] })), shapes };
}

async function measureRound(
  bench: Bench,
  request: InlineRequest,
  { patienceMs, settleMs }: InlineOptions,
): Promise<InlineResult> {
  let result: InlineResult | undefined;
  const { notes } = await undisturbed(patienceMs, async () => {
    await sleep(settleMs);
    result = await bench.ask<InlineResult>({ type: 'inline', request });
    return Object.values(result) as CellResult[];
  });
  if (result === undefined) throw new Error('nothing was measured');
  const { plain, inline } = result;
  const speeds = [inline, plain].map(
    ({ turnsPerSecond, latency }) =>
      `${turnsPerSecond.toFixed(1)} turns/s (p50 ${latency.p50.toFixed(1)} ms)`,
  );
  const line = `${request.case} x ${request.lanes}: inline and plain ${speeds.join(', ')}`;
  console.error([line, ...notes].join('; '));
  return result;
}

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
