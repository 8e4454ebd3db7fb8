/** Tools as data: executors, the legal matrix, plans of calls, call states, the result envelope. Runs anywhere. */
import type { StampedActor } from './actors.js';
import type { Audience } from './audience.js';
import type { BlobRef } from './blobs.js';
import type { ToolCallId, TurnId } from './ids.js';
import type { Json, JsonSchema } from './json.js';
import type { McpToolRef } from './mcp.js';
import type { FilePart, ImagePart } from './messages.js';

export type { Audience } from './audience.js';

/** Who produces the result of a call. */
export type Executor = 'server' | 'human' | 'client' | 'external' | 'provider' | 'internal';

export const EXECUTORS: readonly Executor[] = [
  'server',
  'human',
  'client',
  'external',
  'provider',
  'internal',
];

export type ToolMode = 'await' | 'detach';
export type Effects = 'none' | 'idempotent' | 'once';
export type LateResult = 'reject' | 'inbox';

/**
 * Whether an executor may stand behind an approval gate.
 * `human` is circular (the answer is already a decision); `provider` runs inside the model call, where nothing can be held.
 */
export const MAY_BE_GATED: Readonly<Record<Executor, boolean>> = {
  server: true,
  client: true,
  external: true,
  internal: true,
  human: false,
  provider: false,
};

/** Whether a call of the executor waits for somebody outside, besides its approval. */
export const WAITS_OUTSIDE: Readonly<Record<Executor, boolean>> = {
  server: false,
  human: true,
  client: true,
  external: true,
  provider: false,
  internal: false,
};

/** States of a call; closed. The first seven are open, the rest are final. */
export type CallStatus =
  | 'running'
  | 'awaiting_approval'
  | 'awaiting_answer'
  | 'awaiting_client'
  | 'awaiting_external'
  | 'detached'
  | 'outcome_unknown'
  | FinalCallStatus;

export type FinalCallStatus = 'resolved' | 'errored' | 'denied' | 'expired' | 'cancelled';

/**
 * What the model always sees as the result of a call. `notice`: a word of the engine beside it, which the tool did not say.
 * `blob`: the result was too large, and `result` is its beginning with a marker; all of it is stored under this reference.
 */
export type ToolResultEnvelope =
  | {
      readonly ok: true;
      readonly result: Json;
      readonly blob?: BlobRef;
      /** Images and files that the tool shows beside its result. */
      readonly files?: readonly (ImagePart | FilePart)[];
      readonly notice?: string;
    }
  | { readonly ok: false; readonly error: ToolResultError; readonly notice?: string };

export interface ToolResultError {
  readonly code: ToolErrorCode;
  readonly message: string;
}

/** Codes in result envelopes; readable by models and by clients. */
export type ToolErrorCode =
  | 'unknown_tool'
  | 'invalid_json'
  | 'invalid_input'
  | 'invalid_output'
  | 'tool_error'
  | 'tool_crashed'
  | 'timeout'
  | 'outcome_unknown'
  | 'denied'
  | 'declined'
  | 'expired'
  | 'unclaimed'
  | 'cancelled'
  | 'client_error'
  | 'external_error'
  | 'provider_error'
  | 'policy_error'
  | 'too_many_calls'
  | 'repeated_call'
  | 'not_available'
  | 'definition_changed';

/** Where a result came from. What people, browsers and other backends return is under their control. */
export type Provenance = 'trusted' | 'untrusted';

/** The outcome of the approval policy, decided once and recorded. */
export type ApprovalPlan =
  | { readonly needed: false }
  | { readonly needed: true; readonly reason?: string; readonly audience?: Audience };

/** Clocks of one call, in milliseconds; each has its own text when it runs out. */
export interface CallTimeouts {
  readonly approvalMs: number;
  readonly answerMs: number;
  readonly runMs: number;
  /** How long a call may wait for a client or another backend without being claimed; absent = as long as for its answer. */
  readonly claimMs?: number;
  /** All waits of the call together, and its run, from when the model asked. */
  readonly totalMs?: number;
  /** A run is lost after this long without a heartbeat of its worker; absent = 10 s, or none on a task queue elsewhere. */
  readonly heartbeatMs?: number;
}

/**
 * One call as it was planned when the model asked for it. Everything that later decides its fate is pinned here,
 * so that a deploy which changes the tool cannot change a call already made.
 */
export interface PlannedCall {
  readonly toolCallId: ToolCallId;
  readonly name: string;
  readonly executor: Executor;
  readonly mode: ToolMode;
  /** Validated input: after parsing, defaults and transforms. Absent when the call is an error from the start. */
  readonly input?: Json;
  /** `sha256:` digest of the canonical JSON of the input. What is approved is what runs. */
  readonly argsDigest?: string;
  /** The arguments as they were written, where parsing made something else of them; absent: they are the input. */
  readonly raw?: Json;
  /**
   * Digest of the tool's definition that the input was parsed by. A worker that has another one parses the raw arguments anew
   * before the call's first run. Absent: the worker that planned it does not know of digests, and the input runs as it is.
   */
  readonly definition?: string;
  /** The same of the definition by which answers are judged. */
  readonly answerDefinition?: string;
  readonly approval: ApprovalPlan;
  /** Who may answer, where the result comes from outside. Absent = anybody. */
  readonly answerAudience?: Audience;
  readonly timeouts: CallTimeouts;
  readonly effects: Effects;
  /**
   * Attempts in all, on infrastructure failure (a lost worker) and on `ToolRetry`; any other thrown error is a result. With effects `once`:
   * runs, each after the tool has said that the lost one had no effect.
   */
  readonly maxAttempts: number;
  /** The tool shapes the request before anybody is asked. */
  readonly preflight?: true;
  /** Whoever outside runs it may report progress. */
  readonly streaming?: true;
  /** The tool can say what a lost run did. */
  readonly reconcile?: true;
  /** A short read: may run inside the model activity that asked for it. */
  readonly inline?: true;
  /** What to do when nobody knows what a lost run did; absent = tell the model. */
  readonly onOutcomeUnknown?: 'hold';
  readonly lateResult: LateResult;
  /** Task queue of a worker elsewhere; absent = the conversation's own. */
  readonly taskQueue?: string;
  /** The tool is one of an MCP server, which is not part of the agent's definition. */
  readonly mcp?: McpToolRef;
  /** What the tool returns is under somebody else's control, although a worker of ours asked for it. */
  readonly provenance?: Extract<Provenance, 'untrusted'>;
  /** JSON Schema of an answer or client result, without `pattern`: judged synchronously in the workflow. */
  readonly answerSchema?: JsonSchema;
  /** True when the answer must also pass checks that only the worker can run (patterns, refinements, transforms). */
  readonly recheckAnswer?: true;
  /** All that such a check would do is to drop keys that the schema does not know: an answer without any needs none. */
  readonly recheckOnly?: 'unknown_keys';
  /** The end of a wait is announced this long before, once. */
  readonly warnBeforeMs?: number;
  /** Given instead of an error when nobody answers; never for approvals. */
  readonly onExpireDefault?: { readonly value: Json };
  /** The same call was made this often in the turn, this time included, and is not run again: its result says so. */
  readonly repeats?: number;
  /** Calls run one after the other, and this one's turn has not come: nothing else is decided about it yet. */
  readonly unplanned?: { readonly argumentsJson: string };
  /** The call cannot run: unknown tool, bad JSON, failed validation. Its result is this. */
  readonly error?: ToolResultError;
}

/** One ended call, as results and logs carry it. */
export interface ToolResult {
  /** `detached`: the model goes on with `pending`, and the call does not end here. */
  readonly status: FinalCallStatus | 'detached';
  readonly envelope: ToolResultEnvelope;
  readonly provenance: Provenance;
  /** Who answered or decided; absent for tools that simply ran. */
  readonly actor?: StampedActor;
  readonly executionMs?: number;
}

/** What a call in flight looks like to readers. */
export interface InFlightTool {
  readonly toolCallId: ToolCallId;
  readonly name: string;
  readonly executor: Executor;
  readonly turnId: TurnId;
  /** Present when no turn waits for it. */
  readonly detached?: true;
}
