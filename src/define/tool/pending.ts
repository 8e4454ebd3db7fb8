/** The waiting calls of an agent, typed by the tools that it was defined with. Runs anywhere. */

import type { Executor } from '../../protocol/calls/executors.js';
import type { PendingCall, SuspensionKind } from '../../protocol/calls/suspensions.js';
import { isRecord, type Json, type JsonOf } from '../../protocol/values/json.js';

/**
 * Kinds of suspension that calls of an executor can have. Every call that may be gated can wait for an approval, since
 * the agent's policy may require one.
 */
interface KindsOf {
  readonly server: 'approval' | 'outcome' | 'elicitation';
  readonly human: 'elicitation';
  readonly client: 'approval' | 'client_execution';
  readonly external: 'approval' | 'external_execution';
  readonly internal: 'approval';
  readonly provider: never;
}

interface ToolShape {
  readonly name: string;
  readonly executor: Executor;
  readonly '~types'?: { readonly prompt: unknown; readonly output: unknown };
}

/** The type of a prompt; unknown for questions that a tool's code asks. */
type PromptOf<Tool extends ToolShape, Kind> = [Tool['executor'], Kind] extends [
  'server',
  'elicitation',
]
  ? Json
  : JsonOf<NonNullable<Tool['~types']>['prompt']>;

/** The type of the value that answers a call; any JSON for questions that a tool's code asks. */
type AnswerOf<Tool extends ToolShape, Kind> = Tool['executor'] extends 'server'
  ? Json
  : Kind extends 'elicitation' | 'client_execution' | 'external_execution'
    ? JsonOf<NonNullable<Tool['~types']>['output']>
    : Json;

/** One member for each kind, so that a check of `kind` narrows the type. */
type PendingOfTool<Tool> = Tool extends ToolShape
  ? {
      [Kind in SuspensionKind]: Kind extends KindsOf[Tool['executor']]
        ? Omit<PendingCall, 'name' | 'kind' | 'prompt'> & {
            readonly name: Tool['name'];
            readonly kind: Kind;
            readonly prompt: PromptOf<Tool, Kind>;
            readonly '~answer'?: AnswerOf<Tool, Kind>;
          }
        : never;
    }[SuspensionKind]
  : never;

/**
 * The pending calls that an agent can have: `name` is the tool, `kind` the kind of wait, and `prompt` has the type of
 * the tool's input, or of the payload of its preflight.
 * @example for (const call of snapshot.pending) if (isPendingOf(support, call)) show(call)
 */
export type Pending<Agent extends { readonly tools: readonly unknown[] }> = PendingOfTool<
  Agent['tools'][number]
>;

/**
 * Whether a pending call is of one of the agent's tools, and so has their types. Compares the tool's name: a call that
 * was made before the tool was changed keeps the shape that it had then.
 */
export function isPendingOf<Agent extends { readonly tools: readonly { readonly name: string }[] }>(
  agent: Agent,
  call: unknown,
): call is Pending<Agent> {
  return isRecord(call) && agent.tools.some(({ name }) => name === call['name']);
}
