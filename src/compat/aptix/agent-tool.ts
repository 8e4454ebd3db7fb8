/** `agentToolOf`: a tool with the members of `IAgentTool`, as a definition of this engine. Runs anywhere. */
import { defineTool } from '../../define/define-tool.js';
import type { ParsedOf, Schema } from '../../define/schemas/schema.js';
import { type CallContext, type ToolError, toolError } from '../../define/tool/context.js';
import type { Tool } from '../../define/tool/types.js';
import type { AgentToolCall, AgentToolExecutionContext, InvokeResult } from './calls.js';

/** The cancellation token: fires when the turn is cancelled, the run times out, or the worker stops. */
type CancellationToken = CallContext['signal'];

export interface AgentToolDeclaration<Input extends Schema> {
  readonly name: string;
  /** Usage guidance for the prompt; not empty. */
  readonly toolUsageMetadata: string;
  /** @defaultValue `toolUsageMetadata` */
  readonly description?: string;
  readonly input: Input;
  /**
   * True: `executeAsync` does all of it, and `call.resultJson` is the result that the model reads. False: it validates,
   * shapes and authorises, without side effects; a client gets `call.resultJson` as its payload and finishes the call.
   */
  readonly isToolFullyExecutedOnServer: boolean;
  /**
   * Runs in a worker. Writes its result into `call`. A failure is returned; one that is thrown is logged and becomes the
   * same error of the call.
   */
  readonly executeAsync: (
    call: AgentToolCall,
    context: AgentToolExecutionContext<ParsedOf<Input>>,
    cancellationToken: CancellationToken,
  ) => Promise<InvokeResult<AgentToolCall>>;
}

/** Declares a tool. @throws {DefinitionError} invalid_definition, with the field names of `defineTool` */
export function agentToolOf<Input extends Schema>(declared: AgentToolDeclaration<Input>): Tool {
  const { name, toolUsageMetadata: usage, description = usage, input } = declared;
  const common = { name, description, usage, input };
  const run = (value: ParsedOf<Input>, ctx: CallContext): Promise<unknown> =>
    executed(declared, value, ctx);
  return declared.isToolFullyExecutedOnServer
    ? defineTool({ ...common, run: (value, ctx) => run(value, ctx) })
    : defineTool({ ...common, executor: 'client', preflight: (value, ctx) => run(value, ctx) });
}

async function executed<Input extends Schema>(
  { name, executeAsync }: AgentToolDeclaration<Input>,
  input: ParsedOf<Input>,
  ctx: CallContext,
): Promise<unknown> {
  const { toolCallId, conversationId } = ctx;
  const call: AgentToolCall = {
    ...{ toolCallId, toolName: name, argumentsJson: JSON.stringify(input) },
    isServerTool: true,
    wasExecuted: false,
    requiresClientExecution: false,
  };
  const context: AgentToolExecutionContext<ParsedOf<Input>> = {
    input,
    ...{ agentId: ctx.agent, conversationId, sessionId: conversationId, turnId: ctx.turnId },
    orgId: ctx.tenant,
    userId: ctx.requester.id,
    idempotencyKey: ctx.idempotencyKey,
  };
  const outcome = await executeAsync(call, context, ctx.signal);
  return outcome.successful ? resultOf(outcome.result) : failureOf(outcome.errors);
}

/** A message of an error in the call counts as a failure: the model and the client read it, and no result. */
function resultOf({ toolName, resultJson, errorMessage }: AgentToolCall): unknown {
  if (errorMessage !== undefined && errorMessage !== '') return toolError(errorMessage);
  try {
    return JSON.parse(resultJson ?? 'null') as unknown;
  } catch {
    return toolError(`Tool "${toolName}" returned a resultJson that is not JSON`);
  }
}

function failureOf(errors: readonly { readonly message: string }[]): ToolError {
  return toolError(errors.map(({ message }) => message).join('; '));
}
