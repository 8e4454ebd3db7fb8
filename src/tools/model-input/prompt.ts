/**
 * The system prompt of an agent. A function of the definition alone, so that providers' prompt caches hit. Runs in the
 * worker.
 */
import type { AnyAgent } from '../../define/define-agent.js';
import type { ModelTool } from '../../protocol/model/model.js';
import { toWireName } from '../../protocol/values/tool-names.js';

interface Prompt {
  readonly system: string;
  readonly tools: readonly ModelTool[];
  /** The whole prompt as one text: its tokens are part of every request. */
  readonly whole: string;
}

/** Every model call needs the prompt, and a definition never changes. */
const prompts = new WeakMap<AnyAgent, Prompt>();

export function promptOf(agent: AnyAgent): Prompt {
  const known = prompts.get(agent);
  if (known !== undefined) return known;
  const system = systemPrompt(agent);
  const tools = modelTools(agent);
  const prompt = { system, tools, whole: `${system}${JSON.stringify(tools)}` };
  prompts.set(agent, prompt);
  return prompt;
}

/**
 * Instructions, then how to use each tool, in the order of definition. Tools have their wire names here: the names that
 * the model sees and has to call.
 */
function systemPrompt(agent: AnyAgent): string {
  // A server's descriptions do not get the weight of instructions; the model reads them with the tools.
  const own = agent.tools.filter(({ mcp }) => mcp === undefined);
  if (own.length === 0) return agent.instructions;
  const usages = own.map(({ name, usage }) => `## ${toWireName(name)}\n${usage}`);
  return [agent.instructions, '# Tools', ...usages].join('\n\n');
}

/** The tools in the form of the model port. */
function modelTools(agent: AnyAgent): readonly ModelTool[] {
  return agent.tools.map(({ name, description, inputSchema, strictInput, provider }) => {
    if (provider !== undefined) return { name, provider };
    return strictInput === undefined
      ? { name, description, inputSchema }
      : { name, description, inputSchema: strictInput, strict: true };
  });
}
