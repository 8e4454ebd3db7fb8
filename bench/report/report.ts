/** The output of a run: tables as text, everything as JSON. */
import { execFileSync } from 'node:child_process';
import { cpus } from 'node:os';
import { RESOLUTION_BAR, type ResolutionSummary } from '../measures/resolution.js';
import type { ShapeResult, Side, Workload } from '../shared/cells.js';
import { WORKLOAD_TITLES } from '../shared/cells.js';
import type { CellSummary } from '../shared/stats.js';
import { BAR } from '../shared/stats.js';

export interface Shape extends ShapeResult {
  readonly workload: Workload;
  readonly side: Side;
}

export function speedTable(cells: readonly CellSummary[]): string {
  const rows = cells.map((cell) => {
    const { workload, lanes, engine, floor, throughputRatio, p50Ratio, met } = cell;
    return [
      workload,
      String(lanes),
      engine.turnsPerSecond.toFixed(1),
      floor.turnsPerSecond.toFixed(1),
      throughputRatio.toFixed(2),
      engine.p50.toFixed(1),
      floor.p50.toFixed(1),
      p50Ratio.toFixed(2),
      engine.p95.toFixed(1),
      floor.p95.toFixed(1),
      engine.watchedP50?.toFixed(1) ?? '-',
      met ? 'met' : 'missed',
    ];
  });
  const head = [
    ...['workload', 'at once', 'turns/s', 'floor', 'ratio', 'p50 ms', 'floor', 'ratio'],
    ...['p95 ms', 'floor', 'SSE p50 ms', 'bar'],
  ];
  return tableOf(head, rows);
}

export function cpuTable(cells: readonly CellSummary[]): string {
  const rows = cells.map(({ workload, lanes, engine, floor }) => [
    workload,
    String(lanes),
    ...[engine.cpu['server'], floor.cpu['server']].map(milliseconds),
    ...[engine.cpu['worker'], floor.cpu['floorWorker']].map(milliseconds),
    milliseconds(engine.cpu['api']),
    ...[engine.cpu['load'], floor.cpu['load']].map(milliseconds),
  ]);
  const head = [
    ...['workload', 'at once', 'server ms', 'floor', 'worker ms', 'floor', 'api ms', 'load ms'],
    'floor',
  ];
  return tableOf(head, rows);
}

export function shapeTable(shapes: readonly Shape[]): string {
  const rows = shapes.map(({ workload, side, eventsPerTurn, bytesPerTurn, types }) => [
    workload,
    side,
    eventsPerTurn.toFixed(1),
    bytesPerTurn.toFixed(0),
    ...['workflowTaskCompleted', 'activityTaskScheduled', 'upsertWorkflowSearchAttributes'].map(
      (type) => (types[type] ?? 0).toFixed(1),
    ),
  ]);
  const head = ['workload', 'side', 'events', 'bytes', 'workflow tasks', 'activities', 'upserts'];
  return tableOf(head, rows);
}

/** The floor's rows are the reference of the others. */
export function resolutionTable(summaries: readonly ResolutionSummary[]): string {
  const rows = summaries.map(({ kind, lanes, parked, path, met, ...times }) => [
    kind,
    String(lanes),
    String(parked),
    path,
    times.p50.toFixed(1),
    times.p50Ratio.toFixed(2),
    times.p95.toFixed(1),
    times.p95Ratio.toFixed(2),
    times.p95OfBareHttp?.toFixed(2) ?? '-',
    path === 'floor' || path === 'floor-http' ? '-' : met ? 'met' : 'missed',
  ]);
  const bar = `bar <= ${RESOLUTION_BAR.p95}`;
  const head = ['resolution', 'at once', 'parked', 'through', 'p50 ms', 'ratio', 'p95 ms', 'ratio'];
  return tableOf([...head, 'to bare HTTP', bar], rows);
}

export function legend(): string {
  const titles = Object.entries(WORKLOAD_TITLES).map(([name, title]) => `${name}: ${title}`);
  const bar = `bar: turns/s >= ${BAR.throughput} of the floor, p50 <= ${BAR.p50} of it`;
  return [...titles, bar].join('\n');
}

/** The machine and the versions of the measurement. */
export function machine(): Readonly<Record<string, string>> {
  return {
    cpu: `${cpus().length} x ${cpus()[0]?.model ?? 'unknown'}`,
    platform: `${process.platform} ${process.arch}`,
    node: process.version,
    commit: output('git', ['rev-parse', '--short', 'HEAD']),
  };
}

function output(command: string, args: readonly string[]): string {
  try {
    const stdio: ['ignore', 'pipe', 'ignore'] = ['ignore', 'pipe', 'ignore'];
    return execFileSync(command, args, { encoding: 'utf8', stdio }).trim();
  } catch {
    return 'unknown';
  }
}

function milliseconds(value: number | undefined): string {
  return value === undefined ? '-' : value.toFixed(1);
}

/** Markdown, which can be pasted. */
export function tableOf(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, column) => cell.padStart(widths[column] ?? 0)).join(' | ')} |`;
  const rule = `|${widths.map((width) => `${'-'.repeat(width + 1)}:`).join('|')}|`;
  return [line(head), rule, ...rows.map(line)].join('\n');
}
