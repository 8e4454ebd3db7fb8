/** Inline reads against the same reads as activities: both on the engine, alternating slice by slice. */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type CellResult,
  INLINE_CASES,
  type InlineCase,
  type InlineRequest,
  type InlineResult,
  type ShapeResult,
} from '../shared/cells.js';
import type { Bench } from './processes.js';
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
