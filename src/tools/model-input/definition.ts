/** The definition of an agent as its model calls begin with it, by a digest. Runs in the worker. */
import { createHash } from 'node:crypto';
import type { AnyAgent } from '../../define/define-agent.js';
import type { UsedDefinition } from '../../protocol/conversation/context.js';
import type { ModelDefinition } from '../../protocol/model/definitions.js';
import type { ModelTool } from '../../protocol/model/model.js';
import { canonicalJson } from '../../protocol/values/json.js';
import { promptOf } from './prompt.js';
import { requestedOutput, resultFormOf } from './structured-output.js';

interface Digested {
  readonly digest: string;
  readonly definition: ModelDefinition;
}

/** Every model call needs the digest, and a definition never changes. */
const definitions = new WeakMap<AnyAgent, Digested>();

export function modelDefinitionOf(agent: AnyAgent): Digested {
  const known = definitions.get(agent);
  if (known !== undefined) return known;
  const { system, tools } = promptOf(agent);
  const prepares = agent.plugins?.some(({ prepare }) => prepare !== undefined) === true;
  const definition: ModelDefinition = {
    ...{ system, tools: tools.map(shownTool) },
    ...requestedOutput(agent, agent.output),
    ...resultFormOf(agent),
    ...(prepares ? { prepares: true } : {}),
  };
  const text = canonicalJson(definition);
  const digest = createHash('sha256').update(text).digest('hex').slice(0, 16);
  const made = { digest, definition };
  definitions.set(agent, made);
  return made;
}

/** @param called the agent with the tools of one request */
export function usedDefinition(agent: AnyAgent, called: AnyAgent): UsedDefinition {
  const { digest } = modelDefinitionOf(agent);
  if (agent === called) return { digest };
  const [defined, given] = [promptOf(agent), promptOf(called)];
  const changed = [
    ...(defined.system === given.system ? [] : (['system'] as const)),
    ...(toolsText(defined) === toolsText(given) ? [] : (['tools'] as const)),
  ];
  return { digest, ...(changed.length === 0 ? {} : { changed }) };
}

function toolsText({ system, whole }: ReturnType<typeof promptOf>): string {
  return whole.slice(system.length);
}

/** A tool without the configuration of a provider tool, which may hold credentials and is never recorded. */
export function shownTool(tool: ModelTool): ModelTool {
  return 'provider' in tool ? { name: tool.name, provider: { type: tool.provider.type } } : tool;
}
