/** Plans of calls: everything about a call that is pinned when it is planned. Runs anywhere. */
import type { Audience } from '../values/audience.js';
import type { ToolCallId, TurnId } from '../values/ids.js';
import type { Json, JsonSchema } from '../values/json.js';
import type { Effects, Executor, LateResult, ToolMode } from './executors.js';
import type { Provenance, ToolResultError } from './results.js';

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

/** What a call in flight looks like to readers. */
export interface InFlightTool {
  readonly toolCallId: ToolCallId;
  readonly name: string;
  readonly executor: Executor;
  readonly turnId: TurnId;
  /** Present when no turn waits for it. */
  readonly detached?: true;
}

/**
 * What a server says of a tool's behaviour. Hints: nothing checks them, and a server may be wrong or lie.
 * @see https://modelcontextprotocol.io/specification - ToolAnnotations
 */
export interface ToolAnnotations {
  /** For people. */
  readonly title?: string;
  /** It changes nothing. Absent: it may. */
  readonly readOnlyHint?: boolean;
  /** It may destroy something, rather than only add. Absent: it may. */
  readonly destructiveHint?: boolean;
  /** A second call with the same arguments changes nothing more. Absent: it may. */
  readonly idempotentHint?: boolean;
  /** It reaches beyond the server's own world, as a web search does. Absent: it may. */
  readonly openWorldHint?: boolean;
}

/** Which tool of which server a call was planned for: all that another worker needs to find it again. In recorded histories. */
export interface McpToolRef {
  /** The server's name in the agent's definition. */
  readonly server: string;
  /** The tool's name as the server has it. */
  readonly tool: string;
  /** `sha256:` over its input schema and annotations: by these the call was judged. */
  readonly digest: string;
  /** `sha256:` over its annotations alone: by these its policies judged the call. Absent: they are judged with the schema, by `digest`. */
  readonly hints?: string;
}
