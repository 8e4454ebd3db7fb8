/** Plans of calls: all that is pinned of a call when it is planned. Runs anywhere. */
import type { StampedActor } from '../values/actors.js';
import type { Audience } from '../values/audience.js';
import type { ToolCallId, TurnId } from '../values/ids.js';
import type { Json, JsonSchema } from '../values/json.js';
import type { Effects, Executor, LateResult, ToolLabels, ToolMode } from './executors.js';
import type { StatesRef } from './plugin-state.js';
import type { EarlierResult, Provenance, ToolResultError } from './results.js';

/** The outcome of the approval policy, decided once and recorded. */
export type ApprovalPlan =
  | { readonly needed: false }
  | { readonly needed: true; readonly reason?: string; readonly audience?: Audience };

/** Time-outs of one call, in milliseconds; each has its own text when it runs out. */
export interface CallTimeouts {
  readonly approvalMs: number;
  readonly answerMs: number;
  readonly runMs: number;
  /** Longest wait of a call for a client or another backend to claim it; absent = as long as for its answer. */
  readonly claimMs?: number;
  /** All waits of the call and its runs together, from when the model asked. */
  readonly totalMs?: number;
  /**
   * A run is lost after this long without a heartbeat of its worker; absent = 10 s, or none on a foreign task queue.
   */
  readonly heartbeatMs?: number;
}

/**
 * One call as it was planned when the model asked for it. Pins every rule that decides about it later, so that a deploy
 * which changes the tool cannot change a call already made.
 */
export interface PlannedCall extends ToolLabels {
  readonly toolCallId: ToolCallId;
  readonly name: string;
  readonly executor: Executor;
  readonly mode: ToolMode;
  /** Validated input: after parsing, defaults and transforms. Absent when the call is an error from the start. */
  readonly input?: Json;
  /** `sha256:` digest of the canonical JSON of the input. The approved input is the one that runs. */
  readonly argsDigest?: string;
  /** The arguments as the model wrote them, where parsing changed them; absent: they are the input. */
  readonly raw?: Json;
  /**
   * Digest of the tool's definition that parsed the input. A worker with another one parses the raw arguments anew
   * before the call's first run. Absent: the worker that planned the call knows no digests, and the input runs as it
   * is.
   */
  readonly definition?: string;
  /** Digest of the definition by which answers are judged, likewise. */
  readonly answerDefinition?: string;
  readonly approval: ApprovalPlan;
  /** Audience of the answer, where the result comes from outside. Absent = every actor. */
  readonly answerAudience?: Audience;
  readonly timeouts: CallTimeouts;
  readonly effects: Effects;
  /**
   * Attempts in all, on infrastructure failure (a lost worker) and on `ToolRetry`; any other thrown error is a result.
   * With effects `once`: runs, each after the tool has reported that the lost one had no effect.
   */
  readonly maxAttempts: number;
  /** The tool's preflight makes the request before it is offered or approved. */
  readonly preflight?: true;
  /** The client or backend that runs the call may report progress. */
  readonly streaming?: true;
  /** A step with this call ends its turn, where all of its calls have succeeded. Absent: the model reads the result. */
  readonly endsTurn?: true;
  /** The tool can report what a lost run did. */
  readonly reconcile?: true;
  /** A short read: may run inside the model activity that asked for it. */
  readonly inline?: true;
  /**
   * Action when the outcome of a lost run stays unknown: `hold` waits for an operator; absent = the model gets an
   * error.
   */
  readonly onOutcomeUnknown?: 'hold';
  readonly lateResult: LateResult;
  /** Task queue of a foreign worker; absent = the conversation's own. */
  readonly taskQueue?: string;
  /** The tool is one of an MCP server, which is not part of the agent's definition. */
  readonly mcp?: McpToolRef;
  /** The tool was made at run time: no definition has it. */
  readonly made?: MadeToolRef;
  /** Metadata of such a tool, which is in no manifest. Absent: it has none. */
  readonly metadata?: Readonly<Record<string, Json>>;
  /** Present when the tool's result is under foreign control, although a worker of the application requested it. */
  readonly provenance?: Extract<Provenance, 'untrusted'>;
  /** JSON Schema of an answer or client result, without `pattern`: judged synchronously in the workflow. */
  readonly answerSchema?: JsonSchema;
  /** True when the answer must also pass checks that only the worker can run (patterns, refinements, transforms). */
  readonly recheckAnswer?: true;
  /** Such a check would only drop keys that the schema does not know: an answer without such keys needs none. */
  readonly recheckOnly?: 'unknown_keys';
  /** The end of a wait is announced this long before it, once. */
  readonly warnBeforeMs?: number;
  /** Result in place of an error when the wait ends without an answer; never for approvals. */
  readonly onExpireDefault?: { readonly value: Json };
  /**
   * Number of equal calls in the turn, this one included, when the bound on repeats refuses the call: its result names
   * the number.
   */
  readonly repeats?: number;
  /** A sub-agent runs the call: the engine itself resolves it, when the conversation of that agent has ended. */
  readonly subAgent?: SubAgentPlan;
  /** The call passes the conversation on to another agent. */
  readonly handoff?: { readonly agent: string };
  /** Present in a sequential step before the call's turn: nothing else is decided about the call yet. */
  readonly unplanned?: { readonly argumentsJson: string };
  /** Present when the call cannot run (unknown tool, bad JSON, failed validation): its result. */
  readonly error?: ToolResultError;
}

/** The most that the conversation of a sub-agent may spend. A field that is absent is not bounded. */
export interface ChildBudgets {
  readonly tokens?: number;
  /** Millionths of a unit of the currency of the models' prices. */
  readonly costMicros?: number;
  readonly timeMs?: number;
  /** Tool calls in all. */
  readonly calls?: number;
}

export interface SubAgentPlan {
  /** Name of the agent. */
  readonly agent: string;
  /** Bounds that the tool sets, beside those that its own agent and the sub-agent have. */
  readonly budgets?: ChildBudgets;
  /** The conversation goes on when that of its parent closes. Absent: it is closed as well. */
  readonly outlives?: true;
}

/** A call in flight as readers see it. */
export interface InFlightTool {
  readonly toolCallId: ToolCallId;
  readonly name: string;
  readonly executor: Executor;
  readonly turnId: TurnId;
  /** Present when no turn waits for the call. */
  readonly detached?: true;
  /** The conversation that runs the call. Absent: no sub-agent does. */
  readonly childId?: string;
}

/**
 * Hints of an MCP server about a tool's behaviour. Nothing checks them: a server may be wrong or lie.
 * @see https://modelcontextprotocol.io/specification - ToolAnnotations
 */
export interface ToolAnnotations {
  /** A name for display to people. */
  readonly title?: string;
  /** The tool changes nothing. Absent: it may. */
  readonly readOnlyHint?: boolean;
  /** The tool may destroy something, rather than only add. Absent: it may. */
  readonly destructiveHint?: boolean;
  /** A second call with the same arguments changes nothing more. Absent: it may. */
  readonly idempotentHint?: boolean;
  /** The tool reaches beyond the server's own data, as a web search does. Absent: it may. */
  readonly openWorldHint?: boolean;
}

/**
 * The tool and server that a call was planned for: all that another worker needs to find the tool. In recorded
 * histories.
 */
export interface McpToolRef {
  /** The server's name in the agent's definition. */
  readonly server: string;
  /** The tool's name as the server has it. */
  readonly tool: string;
  /** `sha256:` over the input schema and annotations that the call was judged by. */
  readonly digest: string;
  /** `sha256:` over the annotations alone, by which the policies judged the call. Absent: `digest` covers both. */
  readonly hints?: string;
}

/**
 * The origin of a tool that no definition has. In recorded histories.
 *
 * | fields | the tool |
 * |---|---|
 * | `plugin`, `factory`, `args` | the return value of the plugin's factory for these arguments |
 * | `plugin` | added by the plugin's `prepare`, which runs once more on the states that the call sees |
 */
export interface MadeToolRef {
  readonly plugin: string;
  readonly factory?: string;
  /** Absent: the factory gets `null`. */
  readonly args?: Json;
}

/** The origin with all that a worker needs to make the tool. */
export interface MadeTool {
  readonly ref: MadeToolRef;
  /** The step whose `prepare` added the tool. Absent: a factory makes it. */
  readonly at?: StepOfMade;
}

export interface StepOfMade {
  readonly turnId: TurnId;
  readonly step: number;
  readonly requester: StampedActor;
  /** Results of the turn until now. Absent when there are none. */
  readonly results?: readonly EarlierResult[];
  /** States of plugins. Absent: no plugin has any yet. */
  readonly states?: StatesRef;
}
