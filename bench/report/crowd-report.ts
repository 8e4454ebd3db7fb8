/** Reports of streams, of their readers, and of tenants beside each other. */
import type { ReadersResult, Serving } from '../crowd/cells.js';
import type { InboxResult } from '../inbox/cells.js';
import type { Spread } from '../shared/cells.js';
import type { QuietTurns, TenantsResult } from '../shared/long-cells.js';
import type { SpacesResult, SpacesRun } from '../spaces/cells.js';
import type { StreamingResult } from '../stream/streaming.js';
import { megabytes } from './long-report.js';
import { tableOf } from './report.js';

/** Three rows for each API: the first token, and the CPU time of a long answer with and without a watcher. */
export function streamingTable(results: readonly StreamingResult[]): string {
  const ms = (value: number): string => `${value.toFixed(2)} ms`;
  const rows = results.flatMap(({ api, firstTokenMs, cpuMs, cpuRatio, met }) => {
    const { engine, direct, added } = firstTokenMs;
    const cpu = met.cpu ? 'met' : 'missed';
    return [
      [
        api,
        'first token',
        ms(engine),
        ms(direct),
        `${ms(added)} later`,
        met.firstToken ? 'met' : 'missed',
      ],
      [api, 'CPU, no watcher', ms(cpuMs.alone), ms(cpuMs.reading), cpuRatio.alone.toFixed(2), cpu],
      [
        api,
        'CPU, a watcher',
        ms(cpuMs.watched),
        ms(cpuMs.reading),
        cpuRatio.watched.toFixed(2),
        cpu,
      ],
    ];
  });
  return tableOf(['API', 'measured', 'engine', 'the stream itself', '', 'bar'], rows);
}

/** Bars: the first paint under a second, a new call within 150 ms (p95), 100 calls in five minutes, each race right. */
export function inboxTable(result: InboxResult): string {
  const { firstPaint, firstRow, fresh, cleared, races } = result;
  const met = (isMet: boolean): string => (isMet ? 'met' : 'missed');
  const row = (name: string, { p50, p95, max }: Spread, bar: string): string[] => [
    ...[name, ...[p50, p95, max].map((value) => `${value.toFixed(0)} ms`), bar],
  ];
  const isCleared = cleared.wrong === 0 && cleared.withThought < 300;
  const isFair = races.right === races.calls && races.twice === 0;
  return tableOf(
    ['measured', 'p50', 'p95', 'most', 'bar'],
    [
      row('first paint', firstPaint, met(firstPaint.max < 1_000)),
      row('first row', firstRow, ''),
      row('a new call', fresh, met(fresh.p95 < 150)),
      [
        `${cleared.calls} calls by keys`,
        `${cleared.seconds.toFixed(0)} s`,
        `${cleared.withThought.toFixed(0)} s with thought`,
        `${cleared.wrong} wrong`,
        met(isCleared),
      ],
      [`${races.calls} races`, `${races.right} right`, '', `${races.twice} twice`, met(isFair)],
    ],
  );
}

export function readersTable({ seen, api, floor, lost, refused, messages }: ReadersResult): string {
  const ms = (value: number): string => value.toFixed(1);
  const row = (name: string, frames: number, { rssBytes, ...delay }: Serving): string[] => [
    ...[name, String(frames)],
    ...[megabytes(rssBytes.first), megabytes(rssBytes.most), megabytes(rssBytes.last)],
    ...[ms(delay.loopDelayP99Ms), ms(delay.loopDelayMaxMs)],
  ];
  const head = ['', 'frames', 'MB before', 'most', 'after', 'loop p99 ms', 'max ms'];
  const { events, outOfOrder, cuts, delay } = seen;
  return [
    `${messages} messages (${refused} refused), ${events} events read: ${lost} lost, ${outOfOrder} out of order, ${cuts} cuts`,
    `from event to reader: p50 ${delay.p50} ms, p95 ${delay.p95} ms, at most ${delay.max} ms`,
    tableOf(head, [row('API', seen.frames, api), row('floor', floor.frames, floor)]),
  ].join('\n');
}

/** The bar: beside the flood at most a fifth later than beside a tenant that is busy. */
const MOST_LATER = 1.2;

export function tenantsTable({ flood, ended, alone, busy, flooded }: TenantsResult): string {
  const row = (name: string, { turns, latency }: QuietTurns): string[] => [
    ...[name, String(turns)],
    ...[latency.p50, latency.p95, latency.max].map((ms) => ms.toFixed(0)),
    (latency.p95 / busy.latency.p95).toFixed(2),
  ];
  const met = flooded.latency.p95 <= MOST_LATER * busy.latency.p95 ? 'met' : 'missed';
  return [
    tableOf(
      ['the other tenant', 'turns', 'p50 ms', 'p95', 'most', 'p95 to busy'],
      [row('asks for nothing', alone), row('is busy', busy), row(`asks for ${flood}`, flooded)],
    ),
    `${ended.busy} turns of the busy tenant had ended, and ${ended.flooded} of ${flood}; bar: p95 at most ${MOST_LATER} times that beside a busy tenant: ${met}`,
  ].join('\n');
}

/** The bar: the 95th percentile of a message's delay is under a second, and nothing is lost. */
const MOST_LATE_MS = 1_000;

export function spacesTable({ seconds, spaces, people, agents, floor }: SpacesResult): string {
  const row = (name: string, { messages, refused, lost, read, answered }: SpacesRun): string[] => [
    ...[name, String(messages), String(refused), String(lost), String(read.outOfOrder)],
    ...[read.delay.p50, read.delay.p95, read.delay.max].map((ms) => ms.toFixed(0)),
    answered.p95.toFixed(0),
    lost === 0 && read.delay.p95 < MOST_LATE_MS ? 'met' : 'missed',
  ];
  const head = [
    ...['', 'messages', 'refused', 'lost', 'out of order'],
    ...['p50 ms', 'p95 ms', 'max ms', 'answer p95 ms', 'bar'],
  ];
  const rows = [row('people', people), row('with an agent in each', agents), row('floor', floor)];
  const { woken } = agents;
  return [
    `${spaces} spaces, ${seconds} s; from the sender to the reader of the space:`,
    tableOf(head, rows),
    woken === undefined
      ? ''
      : `agents: ${woken.texts} of ${woken.expected} texts in their inboxes, ${woken.repeated} repeated; from text to inbox p50 ${woken.delay.p50} ms, p95 ${woken.delay.p95} ms, at most ${woken.delay.max} ms`,
  ].join('\n');
}
