/**
 * `npm run bench`: the engine against bare Temporal with the same turns, on one server, in one run, alternating slice
 * by slice. BENCHMARKS.md describes the methods and their limits.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { ALONE, type Alone, measureAlone } from './alone.js';
import { type GrowthCell, growthSummary, measureGrowth } from './measures/growth.js';
import { measureInlineReads } from './measures/inline.js';
import { measureParked, type ParkedCell, parkedSummary } from './measures/parked.js';
import { measureParts } from './measures/parts.js';
import { type Bench, startBench } from './measures/processes.js';
import { measureResolutions, resolutionSummaries } from './measures/resolution.js';
import { undisturbed } from './measures/undisturbed.js';
import { inlineReport } from './report/inline-report.js';
import { growthBars, growthTable, parkedTable } from './report/long-report.js';
import { partsReport } from './report/parts-report.js';
import {
  cpuTable,
  legend,
  machine,
  resolutionTable,
  type Shape,
  shapeTable,
  speedTable,
} from './report/report.js';
import type { CellResult, PairRequest, PairResult, ShapeResult, Workload } from './shared/cells.js';
import { LANES, SIDES, WINDOW_MS, WORKLOADS } from './shared/cells.js';
import { type Cell, type Pair, strictest, summaryOf } from './shared/stats.js';

const USAGE = `npm run bench -- [options]
  --quick          a few seconds of everything, only to show that it works
  --rounds N       repeats all workloads N times (default 3)
  --seconds N      measured time of each side in a round, in alternating slices of 1.7 seconds (default 17)
  --only a|b|c|d|resolution|growth|parked|streaming|readers|tenants|spaces|inbox|inline|parts
                   these workloads (separated by commas), or the latency of resolutions; growth, parked, streaming,
                   readers (500 of event streams), tenants (one beside another that asks for 5,000 turns at once),
                   spaces (1,000 with 20 messages a second), inbox (the web page with 10,000 waiting calls),
                   inline (inline reads against the same as activities) and parts (plugins and sub-agents against the
                   same work without them) are measured only on request
  --at-once N      only with N parallel conversations (default 1 and 16)
  --turns N        turns in each conversation (default 20; growth: 1000)
  --bytes N        growth: size of a tool's result; messages and answers have half of it (default 4096)
  --parked N       conversations that wait beside the measured resolutions (default 1000);
                   parked: waiting conversations (default 1000, then 10000)
  --samples N      resolutions in each measurement (default 400); streaming: first tokens of each API (default 120)
  --patience N     wait for up to N seconds before each pair until other processes are quiet (default 30)
  --out FILE       file for the results (default bench/results/<time>.json)`;

/** Between cells: delayed work of the last cell completes. */
const SETTLE_MS = 6_000;

interface Options {
  readonly rounds: number;
  readonly slices: number;
  readonly workloads: readonly Workload[];
  readonly lanes: readonly number[];
  readonly turns: number;
  readonly resolution: boolean;
  readonly growth: boolean;
  readonly crowd: boolean;
  /** Nothing else is measured. */
  readonly alone: Alone | undefined;
  readonly quick: boolean;
  readonly inline: boolean;
  readonly parts: boolean;
  readonly bytes: number;
  readonly parked: number;
  /** Numbers of conversations that are measured while they wait. */
  readonly counts: readonly number[];
  readonly stillMs: number;
  readonly samples: number;
  readonly patienceMs: number;
  readonly out: string;
}

function readOptions(): Options | undefined {
  const { values } = parseArgs({
    options: {
      quick: { type: 'boolean', default: false },
      rounds: { type: 'string' },
      seconds: { type: 'string' },
      only: { type: 'string' },
      'at-once': { type: 'string' },
      turns: { type: 'string' },
      bytes: { type: 'string' },
      parked: { type: 'string' },
      samples: { type: 'string' },
      patience: { type: 'string' },
      out: { type: 'string' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) return undefined;
  const { quick, 'at-once': atOnce } = values;
  const only = values.only?.split(',') ?? [...WORKLOADS, 'resolution'];
  const all: readonly string[] = [
    ...WORKLOADS,
    'resolution',
    'growth',
    'parked',
    ...ALONE,
    'inline',
    'parts',
  ];
  if (!only.every((name) => all.includes(name)))
    throw new Error(`--only ${only.join(',')}: of ${all.join(', ')}`);
  const workloads = WORKLOADS.filter((name) => only.includes(name));
  const resolution = only.includes('resolution');
  const [growth, crowd] = [only.includes('growth'), only.includes('parked')];
  const alone = ALONE.find((name) => only.includes(name));
  const [inline, parts] = [only.includes('inline'), only.includes('parts')];
  const time = new Date().toISOString().slice(0, 16).replace(':', '');
  const results = fileURLToPath(new URL('../../bench/results', import.meta.url));
  return {
    rounds: wholeNumber('--rounds', values.rounds, quick ? 1 : 3),
    slices: Math.ceil(
      (1_000 * wholeNumber('--seconds', values.seconds, quick ? 3 : 17)) / WINDOW_MS,
    ),
    workloads,
    lanes: atOnce === undefined ? LANES : [wholeNumber('--at-once', atOnce, 1)],
    turns: wholeNumber('--turns', values.turns, growth ? (quick ? 60 : 1_000) : 20),
    ...{ resolution, growth, crowd, alone, quick, inline, parts },
    bytes: wholeNumber('--bytes', values.bytes, 4_096),
    parked: wholeNumber('--parked', values.parked, quick ? 50 : 1_000),
    counts: countsOf(values.parked, quick),
    stillMs: quick ? 5_000 : 60_000,
    samples: wholeNumber(
      '--samples',
      values.samples,
      quick ? 30 : alone === 'streaming' ? 120 : 400,
    ),
    patienceMs: 1_000 * wholeNumber('--patience', values.patience, quick ? 1 : 30),
    out: resolve(values.out ?? join(results, `${time}.json`)),
  };
}

function countsOf(parked: string | undefined, quick: boolean): readonly number[] {
  if (parked !== undefined) return [wholeNumber('--parked', parked, 1)];
  return quick ? [50] : [1_000, 10_000];
}

function wholeNumber(option: string, text: string | undefined, otherwise: number): number {
  const value = text === undefined ? otherwise : Number(text);
  if (!Number.isInteger(value) || value < 1)
    throw new Error(`${option} ${text ?? ''}: a number from 1`);
  return value;
}

async function measurePair(bench: Bench, request: PairRequest, patienceMs: number): Promise<Pair> {
  let pair: PairResult | undefined;
  const { notes } = await undisturbed(patienceMs, async () => {
    await sleep(SETTLE_MS);
    pair = await bench.ask<PairResult>({ type: 'pair', request });
    return Object.values(pair) as CellResult[];
  });
  if (pair === undefined) throw new Error('nothing was measured');
  const { engine, floor } = pair;
  const speed =
    `${request.workload} x ${request.lanes}: ${engine.turnsPerSecond.toFixed(1)} turns/s, ` +
    `floor ${floor.turnsPerSecond.toFixed(1)}; p50 ${engine.latency.p50.toFixed(1)} ms, ` +
    `floor ${floor.latency.p50.toFixed(1)}`;
  console.error([speed, ...notes].join('; '));
  return pair;
}

async function measureAll(
  bench: Bench,
  options: Options,
): Promise<{ cells: Cell[]; shapes: Shape[] }> {
  const shapes: Shape[] = [];
  for (const workload of options.workloads)
    for (const side of SIDES) {
      const { turns } = options;
      const shape = await bench.ask<ShapeResult>({ type: 'shape', side, workload, turns });
      shapes.push({ workload, side, ...shape });
    }
  const pairs = new Map<string, Pair[]>();
  const { workloads, lanes, slices, turns } = options;
  const all = workloads.flatMap((workload) => lanes.map((count) => ({ workload, lanes: count })));
  for (let round = 1; all.length > 0 && round <= options.rounds; round += 1) {
    console.error(`round ${round} of ${options.rounds}`);
    for (const cell of all) {
      const name = `${cell.workload}${cell.lanes}`;
      const request = { ...cell, turnsPerConversation: turns, slices };
      pairs.set(name, [
        ...(pairs.get(name) ?? []),
        await measurePair(bench, request, options.patienceMs),
      ]);
    }
  }
  const cells = all.map((cell) => ({
    ...cell,
    pairs: pairs.get(`${cell.workload}${cell.lanes}`) ?? [],
  }));
  return { cells, shapes };
}

async function aloneOnly(which: Alone, options: Options): Promise<void> {
  const startedAt = new Date().toISOString();
  const { result, text } = await measureAlone(which, options, withBench);
  mkdirSync(dirname(options.out), { recursive: true });
  const about = { startedAt, ...machine(), ...options, out: undefined };
  writeFileSync(options.out, `${JSON.stringify({ about, [which]: result }, null, 1)}\n`);
  console.log(['', ...text, '', `results: ${options.out}`].join('\n'));
}

async function withBench<Result>(work: (bench: Bench) => Promise<Result>): Promise<Result> {
  const bench = await startBench({
    onLine: (line, from) => {
      if (/"level":(40|50|60)|ERROR|WARN/.test(line)) console.error(`${from}: ${line}`);
    },
  });
  try {
    return await work(bench);
  } finally {
    await bench.stop();
  }
}

async function main(options: Options): Promise<void> {
  const startedAt = new Date().toISOString();
  await withBench(async (bench) => {
    const { cells, shapes } = await measureAll(bench, options);
    const resolved = options.resolution ? await measureResolutions(bench, options) : [];
    const grown = options.growth ? await measureGrowth(bench, options) : [];
    const waited = options.crowd ? await measureParked(bench, options) : [];
    const read = options.inline
      ? await measureInlineReads(bench, { ...options, settleMs: SETTLE_MS })
      : undefined;
    const made = options.parts
      ? await measureParts(bench, { ...options, settleMs: SETTLE_MS })
      : undefined;
    const summaries = cells.map(summaryOf);
    const resolutions = resolutionSummaries(resolved);
    const about = { startedAt, ...machine(), ...options, out: undefined };
    mkdirSync(dirname(options.out), { recursive: true });
    const all = {
      about,
      summaries,
      shapes,
      resolutions,
      cells,
      resolved,
      grown,
      waited,
      read,
      made,
    };
    writeFileSync(options.out, `${JSON.stringify(all, null, 1)}\n`);
    if (summaries.length > 0) {
      console.log(['', legend(), '', speedTable(summaries), ''].join('\n'));
      const strict = strictest(cells).map(summaryOf);
      if (strict.length > 0)
        console.log(['c, against the floor of d:', speedTable(strict), ''].join('\n'));
      console.log(['CPU a turn:', cpuTable(summaries), ''].join('\n'));
      console.log(['History a turn:', shapeTable(shapes), ''].join('\n'));
    }
    if (resolutions.length > 0)
      console.log(['Request to verdict:', resolutionTable(resolutions), ''].join('\n'));
    reportLong(grown, waited);
    if (read !== undefined) console.log([inlineReport(read), ''].join('\n'));
    if (made !== undefined) console.log([partsReport(made), ''].join('\n'));
    console.log(`results: ${options.out}`);
  });
}

function reportLong(grown: readonly GrowthCell[], waited: readonly ParkedCell[]): void {
  const growth = grown.map(growthSummary);
  if (growth.length > 0)
    console.log(['What a turn adds:', growthTable(growth), '', growthBars(growth), ''].join('\n'));
  if (waited.length > 0)
    console.log(['Waiting for approvals:', parkedTable(waited.map(parkedSummary)), ''].join('\n'));
}

try {
  const options = readOptions();
  if (options === undefined) console.log(USAGE);
  else if (options.alone !== undefined) await aloneOnly(options.alone, options);
  else await main(options);
} catch (error) {
  console.error(`bench: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}
