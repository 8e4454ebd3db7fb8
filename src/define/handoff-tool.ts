/** `handoffTool`: a tool by which an agent passes the conversation on to another one. Runs anywhere. */
import { labelsOf } from '../protocol/calls/executors.js';
import { isRecord } from '../protocol/values/json.js';
import { checkKeys, ProblemList, shown } from './checks/problems.js';
import type { AnyAgent } from './define-agent.js';
import { defineTool } from './define-tool.js';
import { jsonSchema, type ParsedOf, type RawSchema, type Schema } from './schemas/schema.js';
import type { UntypedServices } from './tool/context.js';
import type { Approval, LabelFields } from './tool/spec.js';
import type { Tool, ToolOf, Unshaped } from './tool/types.js';

export interface HandoffToolSpec<Services, Input extends Schema, Name extends string>
  extends LabelFields {
  readonly name: Name;
  /** When to pass the conversation on; the model reads it with the tool. */
  readonly description: string;
  /** How to use the tool; part of the system prompt. @defaultValue the description */
  readonly usage?: string;
  /** An object: zod, or JSON Schema through `jsonSchema()`. The next agent reads it. @defaultValue `{note}`, a text */
  readonly input?: Input;
  /** @defaultValue 'auto' */
  readonly approval?: Approval<Services, ParsedOf<Input>>;
}

export interface HandoffNote {
  readonly note: string;
}

const NOTE: RawSchema<HandoffNote> = jsonSchema<HandoffNote>({
  type: 'object',
  properties: { note: { type: 'string', description: 'What the next agent has to know' } },
  required: ['note'],
  additionalProperties: false,
});

const FIELDS = ['name', 'description', 'usage', 'title', 'risk', 'input', 'approval'];

/**
 * Declares a tool that passes the conversation on: from the next step it has the instructions, tools, plugins and model
 * of the other agent; its settings stay. Calls that wait keep the agent that made them. Two agents that pass a
 * conversation to each other name each other by functions with a declared type: `(): AnyAgent => other`.
 * @throws {DefinitionError} invalid_definition with every broken rule of the definition.
 */
export function handoffTool<
  Services = UntypedServices,
  Input extends Schema = RawSchema<HandoffNote>,
  const Name extends string = string,
>(
  agent: AnyAgent | (() => AnyAgent),
  spec: HandoffToolSpec<Services, Input, Name>,
): ToolOf<Services, Input, RawSchema, { name: Name; executor: 'internal'; shaped: Unshaped }> {
  const problems = new ProblemList();
  const given: unknown = spec;
  if (typeof agent !== 'function' && !isAgent(agent))
    problems.add(
      'agent',
      'must come from defineAgent, or be a function that returns such an agent',
    );
  if (isRecord(given)) checkKeys(problems, given, { prefix: '', allowed: FIELDS });
  else problems.add('', `must be an object, got ${shown(given)}`);
  problems.throwIfAny(isRecord(given) ? `tool ${shown(given['name'])}` : 'a tool');
  const { name, description, usage, input = NOTE, approval } = spec;
  const tool = defineTool({
    executor: 'internal',
    ...{ name, description, input },
    ...labelsOf(spec),
    ...(usage === undefined ? {} : { usage }),
    ...(approval === undefined ? {} : { approval: approval as never }),
  });
  const handoff = {
    agent: typeof agent === 'function' ? () => checked(agent(), name) : () => agent,
  };
  return Object.freeze({ ...tool, handoff }) as Tool as never;
}

function checked(agent: unknown, name: string): AnyAgent {
  if (isAgent(agent)) return agent;
  const problems = new ProblemList();
  problems.add('agent', 'the function must return an agent that comes from defineAgent');
  problems.throwIfAny(`tool ${shown(name)}`);
  return agent as AnyAgent;
}

function isAgent(value: unknown): value is AnyAgent {
  return isRecord(value) && value['kind'] === 'agent' && typeof value['name'] === 'string';
}
