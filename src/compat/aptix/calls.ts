/** The objects of AGN-005 that tools, executor and front ends share, with the names of that document. Types only. */

/** One call of the model. The tool that runs it writes its result into it. */
export interface AgentToolCall {
  readonly toolCallId: string;
  readonly toolName: string;
  /** JSON of the validated arguments. */
  readonly argumentsJson: string;
  /** Always true: every call goes through the server. */
  readonly isServerTool: true;
  /** The server's part is done: the whole call, or the preflight of a call that the client finishes. False after a failure. */
  wasExecuted: boolean;
  /** The client's result is still to come. */
  requiresClientExecution: boolean;
  /** Where the call is: `pending`, or the status of its result. A tool may write a word of its own, for its log lines. */
  status?: string;
  /** The result that the model reads; after a preflight, the payload for the client. */
  resultJson?: string;
  /** Why there is no result; model and client read it. */
  errorMessage?: string;
}

export interface AgentToolExecutionContext<Input = unknown> {
  /** The parsed arguments, which `argumentsJson` of the call has as text. */
  readonly input: Input;
  readonly agentId: string;
  readonly conversationId: string;
  /** The same as `conversationId`. */
  readonly sessionId: string;
  /** The tenant. */
  readonly orgId: string;
  /** The actor who sent the message of the turn. */
  readonly userId: string;
  readonly turnId: string;
  /** The same in each run of the call. */
  readonly idempotencyKey: string;
}

export interface ErrorMessage {
  readonly message: string;
  /** A code of docs/errors.md, where the engine refuses. */
  readonly errorCode?: string;
  /** JSON Pointer to the field that breaks a rule. */
  readonly path?: string;
}

/** An outcome that is never thrown. */
export type InvokeResult<Value> =
  | { readonly successful: true; readonly result: Value; readonly errors: readonly [] }
  | { readonly successful: false; readonly errors: readonly [ErrorMessage, ...ErrorMessage[]] };

export function succeeded<Value>(result: Value): InvokeResult<Value> {
  return { successful: true, result, errors: [] };
}

export function failed(...errors: readonly [ErrorMessage, ...ErrorMessage[]]): InvokeResult<never> {
  return { successful: false, errors };
}
