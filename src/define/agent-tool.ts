/** `agentTool`: a tool whose calls another agent runs, each in a conversation of its own. Runs anywhere. */
import { type LateResult, labelsOf, type ToolMode } from '../protocol/calls/executors.js';
import type { ChildBudgets } from '../protocol/calls/plan.js';
import type { Retention } from '../protocol/conversation/context.js';
import { MAX_WAIT_MS } from '../protocol/limits/limits.js';
import { DEFAULT_DETACHED_TIMEOUT_MS } from '../protocol/limits/service-limits.js';
import { type Duration, durationMs } from '../protocol/values/durations.js';
import { isRecord } from '../protocol/values/json.js';
import { deadlineProblem } from './checks/deadlines.js';
import { checkKeys, ProblemList, shown, type Untyped } from './checks/problems.js';
import type { AnyAgent } from './define-agent.js';
import { defineTool } from './define-tool.js';
import { jsonSchema, type ParsedOf, type RawSchema, type Schema } from './schemas/schema.js';
import type { UntypedServices } from './tool/context.js';
import type { Approval, LabelFields } from './tool/spec.js';
import type { SubAgent, Tool, ToolOf, Unshaped } from './tool/types.js';

/** The most that the sub-agent may spend on one call. Its agent's own budgets and those of the caller hold as well. */
export interface SubAgentBudgetsSpec {
  /** Tokens of all its model calls. */
  readonly tokens?: number;
  /** Cost of all its model calls, in units of the currency of its model's prices: 0.5 is half a dollar. */
  readonly cost?: number;
  /** Time of each of its turns, waits for people included. */
  readonly time?: Duration;
  /** Tool calls in all. */
  readonly calls?: number;
}

export interface AgentToolSpec<
  Services,
  Input extends Schema,
  Output extends Schema,
  Name extends string,
> extends LabelFields {
  readonly name: Name;
  /** Description of what the sub-agent does; the model reads it with the tool. */
  readonly description: string;
  /** How to use the tool; part of the system prompt. @defaultValue the description */
  readonly usage?: string;
  /** An object: zod, or JSON Schema through `jsonSchema()`. @defaultValue `{task}`, a text */
  readonly input?: Input;
  /**
   * The first message of the sub-agent's conversation. @defaultValue the only field of the input if that is a text,
   * else the input as JSON
   */
  readonly message?: (input: ParsedOf<Input>) => string;
  /** Schema of the sub-agent's answer, an object at the top; it becomes the result. @defaultValue as the agent says */
  readonly output?: Output;
  /**
   * `'detach'`: the model reads `{status: 'pending', pendingToolCallId}` at once and continues; the sub-agent's answer
   * becomes new input for it. @defaultValue 'await'
   */
  readonly mode?: ToolMode;
  /** Longest time until the sub-agent's answer; then it is closed. @defaultValue 7 days */
  readonly timeout?: Duration;
  /** Treatment of an answer after that time: `'inbox'` lets the sub-agent go on. @defaultValue 'reject' */
  readonly lateResult?: LateResult;
  /** @defaultValue 'auto' */
  readonly approval?: Approval<Services, ParsedOf<Input>>;
  readonly budgets?: SubAgentBudgetsSpec;
  /** The sub-agent's conversation when that of its caller closes. @defaultValue 'close' */
  readonly whenParentCloses?: 'close' | 'continue';
  /** How long the model sees the results. @defaultValue the agent's `context.retention` */
  readonly retention?: Retention;
}

export interface SubAgentTask {
  readonly task: string;
}

const TASK: RawSchema<SubAgentTask> = jsonSchema<SubAgentTask>({
  type: 'object',
  properties: {
    task: { type: 'string', description: 'What to do, with all that is needed for it' },
  },
  required: ['task'],
  additionalProperties: false,
});

const FIELDS = [
  ...['name', 'description', 'usage', 'input', 'message', 'output', 'mode', 'timeout'],
  ...['lateResult', 'approval', 'budgets', 'whenParentCloses', 'retention', 'title', 'risk'],
];
const COUNTS = ['tokens', 'calls'] as const;
const MICROS_PER_UNIT = 1_000_000;

/**
 * Declares a tool that another agent runs: each call begins a conversation of that agent, and its answer is the
 * result. Workers that serve the tool's agent serve the sub-agent as well.
 * @throws {DefinitionError} invalid_definition with every broken rule of the definition.
 */
export function agentTool<
  Services = UntypedServices,
  Input extends Schema = RawSchema<SubAgentTask>,
  Output extends Schema = RawSchema,
  const Name extends string = string,
>(
  agent: AnyAgent,
  spec: AgentToolSpec<Services, Input, Output, Name>,
): ToolOf<Services, Input, Output, { name: Name; executor: 'external'; shaped: Unshaped }> {
  const problems = new ProblemList();
  const given: unknown = spec;
  if (!isAgent(agent)) problems.add('agent', 'must come from defineAgent');
  if (isRecord(given)) checkOwnFields(given, problems);
  else problems.add('', `must be an object, got ${shown(given)}`);
  problems.throwIfAny(isRecord(given) ? `tool ${shown(given['name'])}` : 'a tool');
  const { name, description, usage, output, mode, approval, retention } = spec;
  const { input = TASK, timeout = DEFAULT_DETACHED_TIMEOUT_MS, lateResult = 'reject' } = spec;
  const tool = defineTool({
    executor: 'external',
    ...{ name, description, input, lateResult },
    ...labelsOf(spec),
    ...(usage === undefined ? {} : { usage }),
    ...(output === undefined ? {} : { output }),
    ...(mode === undefined ? {} : { mode }),
    ...(approval === undefined ? {} : { approval: approval as never }),
    ...(retention === undefined ? {} : { retention }),
    timeouts: { answer: timeout },
  });
  return Object.freeze({ ...tool, subAgent: subAgentOf(agent, spec) }) as Tool as never;
}

function subAgentOf<Services, Input extends Schema, Output extends Schema, Name extends string>(
  agent: AnyAgent,
  { message, budgets, whenParentCloses }: AgentToolSpec<Services, Input, Output, Name>,
): SubAgent {
  return {
    agent,
    message: (input) => (message === undefined ? messageOf(input) : message(input as never)),
    ...(budgets === undefined ? {} : { budgets: budgetsOf(budgets) }),
    ...(whenParentCloses === 'continue' ? { outlives: true } : {}),
  };
}

function messageOf(input: unknown): string {
  const [only, ...others] = isRecord(input) ? Object.values(input) : [];
  return typeof only === 'string' && others.length === 0 ? only : JSON.stringify(input);
}

function budgetsOf({ tokens, cost, time, calls }: SubAgentBudgetsSpec): ChildBudgets {
  const timeMs = durationMs(time);
  return {
    ...(tokens === undefined ? {} : { tokens }),
    ...(cost === undefined ? {} : { costMicros: Math.round(cost * MICROS_PER_UNIT) }),
    ...(timeMs === undefined ? {} : { timeMs }),
    ...(calls === undefined ? {} : { calls }),
  };
}

function isAgent(value: unknown): value is AnyAgent {
  return isRecord(value) && value['kind'] === 'agent' && typeof value['name'] === 'string';
}

function checkOwnFields(spec: Untyped, problems: ProblemList): void {
  checkKeys(problems, spec, { prefix: '', allowed: FIELDS });
  const { message, timeout, budgets, whenParentCloses } = spec;
  if (message !== undefined && typeof message !== 'function')
    problems.add('message', `must be a function, got ${shown(message)}`);
  if (timeout !== undefined)
    problems.addIf('timeout', deadlineProblem(timeout, { minMs: 1, maxMs: MAX_WAIT_MS }));
  const isKnown = whenParentCloses === 'close' || whenParentCloses === 'continue';
  if (whenParentCloses !== undefined && !isKnown)
    problems.add(
      'whenParentCloses',
      `must be "close" or "continue", got ${shown(whenParentCloses)}`,
    );
  if (budgets !== undefined) checkBudgets(budgets, problems);
}

function checkBudgets(budgets: unknown, problems: ProblemList): void {
  if (!isRecord(budgets)) {
    problems.add('budgets', `must be an object, got ${shown(budgets)}`);
    return;
  }
  checkKeys(problems, budgets, { prefix: 'budgets.', allowed: [...COUNTS, 'cost', 'time'] });
  for (const count of COUNTS) {
    const value = budgets[count];
    const isCount = typeof value === 'number' && Number.isInteger(value) && value >= 1;
    if (value !== undefined && !isCount)
      problems.add(`budgets.${count}`, 'must be a whole number from 1');
  }
  const { cost, time } = budgets;
  const isCost = typeof cost === 'number' && cost >= 1 / MICROS_PER_UNIT && Number.isFinite(cost);
  if (cost !== undefined && !isCost) problems.add('budgets.cost', 'must be a number from 0.000001');
  if (time !== undefined)
    problems.addIf('budgets.time', deadlineProblem(time, { minMs: 1, maxMs: MAX_WAIT_MS }));
}
