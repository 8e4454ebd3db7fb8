/** Hooks and parts with the types of an agent: a wrong name of a tool, or a wrong type of its input, does not compile. */
import type {
  BrowserClient,
  ClientTool,
  ClientToolContext,
  JsonOf,
  PendingView,
} from '../browser/index.js';
import { useClientTools } from './client-tools.js';
import { type UsedConversation, usePending } from './hooks.js';
import { Approval, type ApprovalProps } from './parts/approval.js';
import { Question, type QuestionProps } from './parts/question.js';
import { type Rendered, rendered } from './parts/rendered.js';

/** An agent, as far as its types are needed; `typeof` one that `defineAgent` made. */
export interface TypedAgent {
  readonly tools: readonly unknown[];
}

interface TypedTool {
  readonly name: string;
  readonly executor: string;
  readonly '~types'?: {
    readonly input: unknown;
    readonly output: unknown;
    readonly prompt: unknown;
  };
}

type ToolsOf<Agent extends TypedAgent> = Extract<Agent['tools'][number], TypedTool>;
type TypesOf<Agent extends TypedAgent, Name> = NonNullable<
  Extract<ToolsOf<Agent>, { readonly name: Name }>['~types']
>;

/** The names of the agent's tools. */
export type ToolName<Agent extends TypedAgent> = ToolsOf<Agent>['name'];

/** The value that a call of the tool shows: its input, or the payload of its preflight. */
export type PromptOf<Agent extends TypedAgent, Name> = JsonOf<TypesOf<Agent, Name>['prompt']>;

/** Waiting calls of one tool. */
export type TypedPending<Agent extends TypedAgent, Name> = Omit<PendingView, 'name' | 'prompt'> & {
  readonly name: Name;
  readonly prompt: PromptOf<Agent, Name>;
};

/** Functions for the client tools of the agent. */
export type ClientToolsOf<Agent extends TypedAgent> = {
  readonly [Tool in Extract<ToolsOf<Agent>, { readonly executor: 'client' }> as Tool['name']]?: (
    input: JsonOf<TypesOf<Agent, Tool['name']>['input']>,
    context: ClientToolContext,
  ) => Given<TypesOf<Agent, Tool['name']>['output']>;
};

type Given<Output> = JsonOf<Output> | Promise<JsonOf<Output>>;

/** How the prompts of calls are shown, by name of their tools; other calls are shown field by field. */
export type Shown<Agent extends TypedAgent> = {
  readonly [Name in ToolName<Agent>]?: (prompt: PromptOf<Agent, Name>) => unknown;
};

export interface AgentHooks<Agent extends TypedAgent> {
  /** As `useClientTools`, for the client tools of the agent. */
  readonly useClientTools: (
    client: Pick<BrowserClient, 'registerTool'>,
    tools: ClientToolsOf<Agent>,
  ) => void;
  /** The waiting calls of one tool. */
  readonly usePendingOf: <Name extends ToolName<Agent>>(
    used: UsedConversation,
    name: Name,
  ) => readonly TypedPending<Agent, Name>[];
  readonly Approval: (
    props: Omit<ApprovalProps, 'children'> & { readonly shown?: Shown<Agent> },
  ) => Rendered;
  readonly Question: (
    props: Omit<QuestionProps, 'children'> & { readonly shown?: Shown<Agent> },
  ) => Rendered;
}

/**
 * The hooks and parts for an agent. Only its type is needed, so that no code of the service comes into the page. Call it
 * once, outside of components. The types are those of the agent as it is now: a call that was made before the tool was
 * changed keeps the shape that it had then.
 * @example const { useClientTools, Approval } = createHooks<typeof support>();
 */
export function createHooks<Agent extends TypedAgent>(): AgentHooks<Agent> {
  return {
    useClientTools: (client, tools) =>
      useClientTools(client, tools as Readonly<Record<string, ClientTool>>),
    usePendingOf: <Name extends ToolName<Agent>>(used: UsedConversation, name: Name) => {
      const calls = usePending(used).filter((call) => call.name === name);
      return calls as unknown as readonly TypedPending<Agent, Name>[];
    },
    Approval: ({ shown, ...rest }) =>
      rendered(<Approval {...rest}>{shownOf(rest.call, shown)}</Approval>),
    Question: ({ shown, ...rest }) =>
      rendered(<Question {...rest}>{shownOf(rest.call, shown)}</Question>),
  };
}

function shownOf({ name, prompt }: PendingView, shown: object | undefined): unknown {
  if (shown === undefined || !Object.hasOwn(shown, name)) return undefined;
  const show = (shown as Readonly<Record<string, ((prompt: unknown) => unknown) | undefined>>)[
    name
  ];
  return show?.(prompt);
}
