/** `createTool`: a tool that is declared by `id`, `requireApproval` and `invoke`. Runs anywhere. */
import { defineTool } from '../define/define-tool.js';
import type { GivenTo, ParsedOf, Schema } from '../define/schemas/schema.js';
import type { Services } from '../define/services/container.js';
import type { ApprovalDecision } from '../define/tool/policy.js';
import type { PluginRef, StateAccess } from '../define/tool/state-access.js';
import type { Tool } from '../define/tool/types.js';

/** Reads and replaces states of plugins; see `StateAccess` for when a change takes effect. */
export interface State {
  /** Undefined where nothing is stored and the schema has no default. */
  getState<Value>(plugin: PluginRef<Value>): Value;
  setState<Value>(plugin: PluginRef<Value>, value: NoInfer<Value>): void;
}

export interface ToolInput<Input> {
  /** Parsed by the input schema; not to be parsed again. */
  readonly input: Input;
  readonly state: State;
  /** The worker's container (`createServices`). */
  readonly services: Services;
}

export interface ApprovalRequest {
  /** False: the call runs at once. */
  readonly required: boolean;
  /** Shown to the approver. */
  readonly reason: string;
}

/**
 * Decides once for each call, before it runs; an edit of its input is decided anew. Fails closed: when it throws, the
 * call does not run. It reads states of plugins, and cannot change them.
 */
export type RequireApproval<Input> = (
  given: ToolInput<Input>,
) => ApprovalRequest | Promise<ApprovalRequest>;

export interface ToolDeclaration<Input extends Schema, Output extends Schema> {
  /** The tool's name: `{plugin}.{action}`. */
  readonly id: string;
  readonly description: string;
  readonly input: Input;
  readonly output: Output;
  /** @defaultValue no approval */
  readonly requireApproval?: ApprovalRequest | RequireApproval<ParsedOf<Input>>;
  /** Runs in a worker. A thrown error is an error result that the model reads. */
  readonly invoke: (
    given: ToolInput<ParsedOf<Input>>,
  ) => GivenTo<Output> | Promise<GivenTo<Output>>;
}

/**
 * Declares a tool. After an approval `invoke` runs without another question.
 * @throws {DefinitionError} invalid_definition, with the field names of `defineTool` (`name` for `id`)
 */
export function createTool<Input extends Schema, Output extends Schema>(
  declared: ToolDeclaration<Input, Output>,
): Tool<Services> {
  const { id: name, description, input, output, requireApproval, invoke } = declared;
  const tool = defineTool<Services, Input, Output>({
    ...{ name, description, input, output },
    approval:
      typeof requireApproval === 'function'
        ? async (value, { services, getState }) =>
            decisionOf(
              await requireApproval({
                input: value,
                state: { getState, setState: refuse },
                services,
              }),
            )
        : gateOf(requireApproval),
    run: (value, ctx) => invoke({ input: value, state: stateOf(ctx), services: ctx.services }),
  });
  return tool;
}

function stateOf(access: StateAccess): State {
  return {
    getState: (plugin) => access.getState(plugin),
    setState: (plugin, value) => {
      access.setState(plugin, value);
    },
  };
}

function gateOf(request: ApprovalRequest | undefined): 'auto' | { ask: { reason: string } } {
  return request?.required === true ? { ask: { reason: request.reason } } : 'auto';
}

function decisionOf({ required, reason }: ApprovalRequest): ApprovalDecision {
  return required ? { ask: { reason } } : 'allow';
}

const refuse = (): never => {
  throw new TypeError('requireApproval cannot change states of plugins; invoke and prepare can');
};
