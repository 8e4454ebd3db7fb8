/** Long measurements: one conversation that grows, and many that wait. Shared by all processes of a run. */

export const GROWING_AGENT = 'bench-growing';
/** The same with three plugins, 100 KB of their state, and 40 tools. */
export const GROWING_PARTS_AGENT = 'bench-growing-parts';
export const LOOKUP_NAMES = ['lookup.one', 'lookup.two'] as const;

/** The message of a growing conversation: the calls that its model requests, and their sizes. */
export interface GrowthOrder {
  /** The number of the turn, from 1. */
  readonly turn: number;
  /** Parallel tool calls. */
  readonly calls: number;
  readonly gated: boolean;
  /** The size of one tool's result; a message and an answer have half of it. */
  readonly bytes: number;
}

export interface GrowthVariant {
  readonly title: string;
  readonly calls: number;
  /** One turn in so many has a further call, behind an approval; 0 = none. */
  readonly gatedEvery: number;
  readonly agent: typeof GROWING_AGENT | typeof GROWING_PARTS_AGENT;
}

export const GROWTH_VARIANTS: readonly GrowthVariant[] = [
  { title: '2 tools', calls: 2, gatedEvery: 10, agent: GROWING_AGENT },
  { title: '10 tools', calls: 10, gatedEvery: 0, agent: GROWING_AGENT },
  { title: '2 tools, 100 KB of state', calls: 2, gatedEvery: 0, agent: GROWING_PARTS_AGENT },
];

export interface GrowthRequest extends Omit<GrowthVariant, 'title'> {
  readonly turns: number;
  readonly bytes: number;
  /** The number of samples, spread over the turns. */
  readonly samples: number;
}

/** A sample of all growing quantities, counted from the first turn on. */
export interface GrowthSample {
  readonly turns: number;
  readonly runs: number;
  /** The sum over the histories of all runs. */
  readonly historyEvents: number;
  readonly historyBytes: number;
  /** The sum over all inputs of model calls, as Temporal stores them. */
  readonly modelCalls: number;
  readonly modelBytes: number;
  /** Files of the event log; 0 when it is not a file. */
  readonly storeBytes: number;
  readonly snapshotBytes: number;
  readonly logEvents: number;
  /** Texts, arguments and results that turns have added, as JSON. */
  readonly contentBytes: number;
  readonly workerRssBytes: number;
  /** The same after its garbage was collected. */
  readonly workerHeldBytes: number;
  /** CPU milliseconds by process. */
  readonly cpu: Readonly<Record<string, number>>;
}

export interface GrowthResult {
  /** Milliseconds, in the order of the turns. */
  readonly latencies: readonly number[];
  readonly samples: readonly GrowthSample[];
  readonly longestRun: ReplayedRun;
  readonly foreignCpu: number;
}

export interface ReplayedRun {
  readonly events: number;
  readonly bytes: number;
  /** Median of a few replays by a worker that has replayed before. */
  readonly replayMs: number;
}

export interface ParkedResult {
  readonly parked: number;
  readonly tookMs: number;
}

/** The sum over all parked conversations. */
export interface Stillness {
  readonly running: number;
  readonly historyEvents: number;
  readonly pendingActivities: number;
  readonly pendingTasks: number;
  readonly rssBytes: Readonly<Record<string, number>>;
}

export interface BurstResult {
  readonly verdicts: Readonly<Record<string, number>>;
  /** From the first request until the last verdict, and until the end of the last turn. */
  readonly verdictsMs: number;
  readonly answersMs: number;
  readonly latency: { readonly p50: number; readonly p95: number; readonly max: number };
  /** When the conversations took the answers: the last one after the first request, and each after its own. */
  readonly judged: {
    readonly count: number;
    readonly lastMs: number;
    readonly wait: { readonly p50: number; readonly p95: number; readonly max: number };
  };
  /** After the burst. */
  readonly workerRssBytes: number;
  /** The same after its garbage was collected. */
  readonly workerHeldBytes: number;
  readonly cpu: Readonly<Record<string, number>>;
  readonly foreignCpu: number;
}

export interface TenantsRequest {
  /** Turns that the other tenant asks for at once. */
  readonly flood: number;
  /** Seconds of each measurement. */
  readonly seconds: number;
}

/** A quiet tenant alone, beside a busy one, and beside one that asks for thousands of turns at once. */
export interface TenantsResult {
  readonly flood: number;
  /** Turns of the flood that had ended with the measurement. */
  readonly ended: { readonly busy: number; readonly flooded: number };
  readonly alone: QuietTurns;
  readonly busy: QuietTurns;
  readonly flooded: QuietTurns;
}

export interface QuietTurns {
  readonly turns: number;
  readonly latency: { readonly p50: number; readonly p95: number; readonly max: number };
}

export type LongRequest =
  | { readonly type: 'tenants'; readonly request: TenantsRequest }
  | { readonly type: 'growth'; readonly request: GrowthRequest }
  | { readonly type: 'park-approvals'; readonly count: number }
  | { readonly type: 'stillness' }
  | { readonly type: 'burst'; readonly atOnce: number }
  /** A process was restarted. */
  | { readonly type: 'pid'; readonly name: string; readonly pid: number };

export type LongResult =
  | GrowthResult
  | ParkedResult
  | Stillness
  | BurstResult
  | TenantsResult
  | null;
