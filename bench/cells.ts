/** What is measured: workloads, cells, and what one measurement of a cell gives. Shared by all processes of a run. */

import type { LongRequest, LongResult } from './long-cells.js';

export const WORKLOADS = ['a', 'b', 'c', 'd'] as const;
export type Workload = (typeof WORKLOADS)[number];

export const WORKLOAD_TITLES: Readonly<Record<Workload, string>> = {
  a: 'one model call',
  b: 'model, 2 parallel tools, model',
  c: 'model, 2 tools + 1 gated tool (approved), model; what waits is kept in search attributes',
  d: 'like c, and no search attributes',
};

/**
 * What the engine does in two ways, measured against each other: its reads as activities of their own, and inside the model call
 * that asks for them.
 */
export const INLINE_CASES = ['c', 'mixed'] as const;
export type InlineCase = (typeof INLINE_CASES)[number];

export const INLINE_TITLES: Readonly<Record<InlineCase, string>> = {
  c: WORKLOAD_TITLES.c,
  mixed: 'model, 2 reads + 1 other tool, model',
};

/** Each has an agent of the engine. */
export type EngineWorkload = Workload | 'mixed' | `${InlineCase}-inline`;

/** A turn of it waits for an approval. */
export function isGated(workload: EngineWorkload): boolean {
  return workload === 'c' || workload === 'c-inline' || workload === 'd';
}

/** The engine as users run it, or bare Temporal doing the same work. */
export type Side = 'engine' | 'floor';
export const SIDES: readonly Side[] = ['engine', 'floor'];

/** Conversations at once; each sends its next message when its last turn has ended. */
export const LANES: readonly number[] = [1, 16];

export const MODEL_TEXT =
  'Done: everything that you asked for has been looked up and put in order.';
export const USER_TEXT = 'Please look up what I need, and tell me when it is done.';
export const TOOL_NAMES = ['lookup.one', 'lookup.two'] as const;
export const GATED_TOOL_NAME = 'pay';
export const OTHER_TOOL_NAME = 'note';
export const FLOOR_QUEUE = 'bench-floor';
/**
 * The engine's: when a time-out is over the server looks once more, also at a task or an activity that has long ended. So each side has these looks
 * within the slices that are measured, as it has them in the long run: with the SDK's defaults some of the floor's would come in slices of the engine, or after
 * the measurement.
 */
export const FLOOR_TIMEOUTS = {
  workflowTask: '5 seconds',
  /** How long a workflow task waits for the worker that has the workflow in its cache. */
  sticky: '1 second',
  /** The engine's activities heartbeat; a lost worker is noticed after this. */
  activity: '10 seconds',
} as const;

/** Of each slice that is measured. */
export const WINDOW_MS = 1_700;

/** A workload on both sides, with as many conversations at once. */
export interface PairRequest {
  readonly workload: Workload;
  readonly lanes: number;
  readonly turnsPerConversation: number;
  /** Of the engine that are measured. */
  readonly slices: number;
}

/** The engine against itself. */
export interface InlineRequest extends Omit<PairRequest, 'workload'> {
  readonly case: InlineCase;
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
  /** Until an SSE watcher of the conversation had the turn's end; engine only. */
  readonly watched?: Spread;
  /** CPU milliseconds a turn, by process. */
  readonly cpu: Readonly<Record<string, number>>;
  /** Part of the machine that processes other than ours took during the windows, 0 to 1. */
  readonly foreignCpu: number;
}

/** Measured in turn, slice by slice. */
export interface PairResult {
  readonly engine: CellResult;
  readonly floor: CellResult;
  /** Workload c only: the floor of d. */
  readonly bare?: CellResult;
}

/** Measured in turn, slice by slice. */
export interface InlineResult {
  readonly plain: CellResult;
  readonly inline: CellResult;
}

/** One conversation alone: what a turn leaves in its history, from the difference between its first and its last turn. */
export interface ShapeResult {
  readonly eventsPerTurn: number;
  readonly bytesPerTurn: number;
  /** Events a turn by type, over the whole history, start included. */
  readonly types: Readonly<Record<string, number>>;
}

export interface LoadConfig {
  readonly address: string;
  readonly apiUrl: string;
  /** Of the bare HTTP server before the bare update. */
  readonly floorUrl: string;
  readonly logFile: string;
  /** Process ids by name, whose CPU time is read. */
  readonly pids: Readonly<Record<string, number>>;
}

/** What is resolved: a person's answer, which is the result; or an approval, with which the call begins to run. */
export type ResolutionKind = 'answer' | 'approve';
export const RESOLUTION_KINDS: readonly ResolutionKind[] = ['answer', 'approve'];

/** Through the client library, through the HTTP API, a bare update of a bare workflow, or that behind a bare HTTP server. */
export const RESOLUTION_DOORS = ['client', 'http', 'floor', 'floor-http'] as const;
export type ResolutionDoor = (typeof RESOLUTION_DOORS)[number];

export interface ResolutionRequest {
  readonly door: ResolutionDoor;
  readonly kind: ResolutionKind;
  /** Conversations at once. */
  readonly lanes: number;
  /** Calls that wait in each of them when the clock starts. */
  readonly waits: number;
  /** Resolutions at least. */
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
