/** Tables of the long measurements. */

import type { GrowthSummary } from '../measures/growth.js';
import type { ParkedSummary } from '../measures/parked.js';
import { tableOf } from './report.js';

const CPU_OF = ['worker', 'server', 'api', 'load'] as const;

/** One row for each part of the conversation, with the growth of one turn in it. */
export function growthTable(summaries: readonly GrowthSummary[]): string {
  const rows = summaries.flatMap(({ title, parts }) =>
    parts.map((part) => [
      title,
      String(part.through),
      part.p50.toFixed(1),
      String(part.rollOvers),
      part.historyEvents.toFixed(1),
      part.historyBytes.toFixed(0),
      part.contentBytes.toFixed(0),
      (part.historyBytes / part.contentBytes).toFixed(2),
      part.modelBytesPerCall.toFixed(0),
      part.storeBytes.toFixed(0),
      part.logEvents.toFixed(1),
      part.snapshotBytes.toFixed(0),
      ...CPU_OF.map((name) => (part.cpuMs[name] ?? 0).toFixed(1)),
      megabytes(part.workerRssBytes),
      megabytes(part.workerHeldBytes),
    ]),
  );
  const head = [
    ...['turns with', 'through', 'p50 ms', 'roll-overs', 'events', 'history B', 'new content B'],
    ...['ratio', 'to a model call B', 'store B', 'log events', 'snapshot B'],
    ...CPU_OF.map((name) => `${name} CPU ms`),
    'worker MB',
    'after a collection',
  ];
  return tableOf(head, rows);
}

export function growthBars(summaries: readonly GrowthSummary[]): string {
  const rows = summaries.flatMap(({ title, bars }) =>
    bars.map(({ name, value, met }) => [title, name, value, met ? 'met' : 'missed']),
  );
  return tableOf(['turns with', 'bar', 'is', ''], rows);
}

export function parkedTable(summaries: readonly ParkedSummary[]): string {
  const rows = summaries.map(({ count, wakeUps, burst, met, ...memory }) => [
    String(count),
    String(wakeUps),
    megabytes(memory.parkedRssBytes['worker']),
    megabytes(memory.restartedRssBytes['worker']),
    megabytes(memory.restartedRssBytes['server']),
    megabytes(burst.workerRssBytes),
    megabytes(burst.workerHeldBytes),
    (burst.verdictsMs / 1_000).toFixed(1),
    (burst.judged.lastMs / 1_000).toFixed(1),
    (burst.answersMs / 1_000).toFixed(1),
    burst.latency.p50.toFixed(0),
    burst.latency.p95.toFixed(0),
    Object.entries(burst.verdicts)
      .map(([verdict, times]) => `${times} ${verdict}`)
      .join(', '),
    met ? 'met' : 'missed',
  ]);
  const head = [
    ...['parked', 'wake-ups', 'worker MB', 'new worker MB', 'server MB'],
    ...['after the burst MB', 'collected MB', 'all replies s', 'all judged s', 'last answer s'],
    ...['verdict p50 ms', 'p95 ms', 'verdicts', 'bar: no wake-up'],
  ];
  return tableOf(head, rows);
}

export function megabytes(bytes: number | undefined): string {
  return ((bytes ?? 0) / 1_048_576).toFixed(0);
}
