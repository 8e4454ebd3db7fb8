/** The measured workloads and cells, and the result of one measurement. Shared by all processes of a run. */

import type { LongRequest, LongResult } from './long-cells.js';

export const WORKLOADS = ['a', 'b', 'c', 'd'] as const;
export type Workload = (typeof WORKLOADS)[number];

export const WORKLOAD_TITLES: Readonly<Record<Workload, string>> = {
  a: 'one model call',
  b: 'model, 2 parallel tools, model',
  c: 'model, 2 tools + 1 gated tool (approved), model; waiting calls are listed in search attributes',
  d: 'like c, without search attributes',
};

/**
 * Two modes of the engine, measured against each other: reads as activities of their own, and inline in the model call
 * that requests them.
 */
export const INLINE_CASES = ['c', 'mixed'] as const;
export type InlineCase = (typeof INLINE_CASES)[number];

export const INLINE_TITLES: Readonly<Record<InlineCase, string>> = {
  c: WORKLOAD_TITLES.c,
  mixed: 'model, 2 reads + 1 other tool, model',
};

/** Conversations made of parts, each against the same work without them, with the required ratio of their rates. */
export const PARTS = {
  plugins: {
    title:
      'a turn with 3 plugins, 100 KB of state, 1 KB of it changed, and 40 tools; without plugins',
    plain: 'forty',
    parts: 'forty-plugins',
    lanes: 4,
    bar: 0.85,
  },
  subs: {
    title: 'a turn with 10 sub-agents at once; 10 conversations at once',
    plain: 'ten',
    parts: 'ten-subs',
    lanes: 1,
    bar: 0.8,
  },
} as const;
export type PartsCase = keyof typeof PARTS;
export const PARTS_TOOL = 'part';

/** Workloads for which the engine has an agent. */
export type EngineWorkload =
  | Workload
  | 'mixed'
  | `${InlineCase}-inline`
  | (typeof PARTS)[PartsCase]['plain' | 'parts'];

/** Whether a turn of the workload waits for an approval. */
export function isGated(workload: EngineWorkload): boolean {
  return workload === 'c' || workload === 'c-inline' || workload === 'd';
}

/** The engine as users run it, or bare Temporal with the same work. */
export type Side = 'engine' | 'floor';
export const SIDES: readonly Side[] = ['engine', 'floor'];

/** Numbers of parallel conversations. Each sends its next message at the end of its last turn. */
export const LANES: readonly number[] = [1, 16];

export const MODEL_TEXT =
  'Done: everything that you asked for has been looked up and put in order.';
export const USER_TEXT = 'Please look up what I need, and report to me when it is done.';
export const TOOL_NAMES = ['lookup.one', 'lookup.two'] as const;
export const GATED_TOOL_NAME = 'pay';
export const OTHER_TOOL_NAME = 'note';
export const FLOOR_QUEUE = 'bench-floor';
/**
 * The engine's timeouts. At each timeout the server checks the task or activity once more, even if it ended long
 * before. With equal timeouts each side has these checks within its own slices, as it does over a long run; with the
 * SDK's defaults some checks of the floor would fall into slices of the engine, or after the measurement.
 */
export const FLOOR_TIMEOUTS = {
  workflowTask: '5 seconds',
  /** Time for which a workflow task waits for the worker with the workflow in its cache. */
  sticky: '1 second',
  /** The engine's activities heartbeat; a lost worker is noticed after this time. */
  activity: '10 seconds',
} as const;

/** The measured time of each slice. */
export const WINDOW_MS = 1_700;

/** A workload on both sides, with the same number of parallel conversations. */
export interface PairRequest {
  readonly workload: Workload;
  readonly lanes: number;
  readonly turnsPerConversation: number;
  /** The number of measured slices of the engine. */
  readonly slices: number;
}

/** The engine against itself. */
export interface InlineRequest extends Omit<PairRequest, 'workload'> {
  readonly case: InlineCase;
}

export interface PartsRequest extends Omit<PairRequest, 'workload'> {
  readonly case: PartsCase;
}

/** Milliseconds over the turns of all windows. */
export interface Spread {
  readonly p50: number;
  readonly p95: number;
  readonly max: number;
}

export interface CellResult {
  readonly turns: number;
  readonly turnsPerSecond: number;
  readonly latency: Spread;
  /** Time until an SSE watcher of the conversation received the turn's end; engine only. */
  readonly watched?: Spread;
  /** CPU milliseconds for each turn, by process. */
  readonly cpu: Readonly<Record<string, number>>;
  /** Share of the machine that other processes took during the windows, 0 to 1. */
  readonly foreignCpu: number;
}

/** Measured alternately, slice by slice. */
export interface PairResult {
  readonly engine: CellResult;
  readonly floor: CellResult;
  /** Workload c only: the floor of d. */
  readonly bare?: CellResult;
}

/** Measured alternately, slice by slice. */
export interface InlineResult {
  readonly plain: CellResult;
  readonly inline: CellResult;
}

/** One conversation alone: the history of one turn, as the difference between the first and the last turn. */
export interface ShapeResult {
  readonly eventsPerTurn: number;
  readonly bytesPerTurn: number;
  /** Events for each turn by type, over the whole history, including its start. */
  readonly types: Readonly<Record<string, number>>;
}

export interface LoadConfig {
  readonly address: string;
  readonly apiUrl: string;
  readonly apiHeaders: Readonly<Record<string, string>>;
  /** Address of the bare HTTP server in front of the bare update. */
  readonly floorUrl: string;
  readonly logFile: string;
  /** Process ids by name, whose CPU time is read. */
  readonly pids: Readonly<Record<string, number>>;
}

/** The resolution: a person's answer, which is the result; or an approval, after which the call starts to run. */
export type ResolutionKind = 'answer' | 'approve';
export const RESOLUTION_KINDS: readonly ResolutionKind[] = ['answer', 'approve'];

/**
 * The measured paths: the client library, the HTTP API, a bare update of a bare workflow, or that update behind a bare
 * HTTP server.
 */
export const RESOLUTION_PATHS = ['client', 'http', 'floor', 'floor-http'] as const;
export type ResolutionPath = (typeof RESOLUTION_PATHS)[number];

export interface ResolutionRequest {
  readonly path: ResolutionPath;
  readonly kind: ResolutionKind;
  /** Parallel conversations. */
  readonly lanes: number;
  /** Calls that wait in each conversation at the start of the measurement. */
  readonly waits: number;
  /** The minimum number of resolutions. */
  readonly samples: number;
}

export interface ResolutionResult {
  readonly samples: number;
  readonly latency: Spread;
  readonly foreignCpu: number;
}

export interface ParkResult {
  readonly parked: number;
}

export type LoadRequest =
  | LongRequest
  | { readonly type: 'resolution'; readonly request: ResolutionRequest }
  | { readonly type: 'park'; readonly count: number }
  | { readonly type: 'pair'; readonly request: PairRequest }
  | { readonly type: 'inline'; readonly request: InlineRequest }
  | { readonly type: 'parts'; readonly request: PartsRequest }
  | ShapeRequest;

export type ShapeRequest = { readonly type: 'shape'; readonly turns: number } & (
  | { readonly side: 'engine'; readonly workload: EngineWorkload }
  | { readonly side: 'floor'; readonly workload: Workload }
);

export type LoadReply =
  | { readonly type: 'ready' }
  | {
      readonly type: 'result';
      readonly result:
        | PairResult
        | InlineResult
        | ShapeResult
        | ResolutionResult
        | ParkResult
        | LongResult;
    }
  | { readonly type: 'failed'; readonly message: string };
