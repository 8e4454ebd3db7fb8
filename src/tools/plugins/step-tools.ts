/** The tools of one model call: those of the agent, without the hidden ones, and those that plugins add. */
import type { AnyAgent } from '../../define/define-agent.js';
import type { AnyPlugin } from '../../define/plugin/types.js';
import type { AnyTool } from '../../define/tool/types.js';
import { MAX_MADE_TOOLS } from '../../protocol/limits/service-limits.js';
import { toWireName } from '../../protocol/values/tool-names.js';
import { isTool, madeByFactory, withOrigin } from '../shared/factories.js';

export class StepTools {
  readonly #agent: AnyAgent;
  readonly #hidden = new Set<string>();
  /** By name, in the order in which they were added. */
  readonly #added = new Map<string, AnyTool>();

  constructor(agent: AnyAgent) {
    this.#agent = agent;
  }

  names(): readonly string[] {
    const own = this.#agent.tools.map(({ name }) => name).filter((name) => !this.#hidden.has(name));
    return [...own, ...this.#added.keys()];
  }

  /** @throws {TypeError} */
  hide(name: string): void {
    if (this.#added.delete(name)) return;
    if (!this.#agent.tools.some((tool) => tool.name === name))
      throw new TypeError(`the agent has no tool "${name}"`);
    this.#hidden.add(name);
  }

  /** @throws {TypeError} */
  add({ id }: AnyPlugin, tool: unknown): void {
    if (!isTool(tool)) throw new TypeError('tools.add: must be a tool of defineTool');
    this.#put(withOrigin(tool, { plugin: id }));
  }

  /** @throws {TypeError} the error of the factory */
  make(plugin: AnyPlugin, factory: string, args: unknown): void {
    this.#put(madeByFactory(plugin, factory, args));
  }

  #put(tool: AnyTool): void {
    const { name, executor } = tool;
    // Nothing of a call that the provider runs comes back to the engine's plan, so no worker could make its tool again.
    if (executor === 'provider')
      throw new TypeError(`tool "${name}" is run by the provider; the agent has to define it`);
    const wireName = toWireName(name);
    // A hidden tool keeps its name: a call that was planned before could mean either.
    const others = [...this.#agent.tools, ...this.#added.values()];
    const other = others.find((each) => toWireName(each.name) === wireName);
    if (other !== undefined)
      throw new TypeError(`tool "${name}": the agent has a tool "${other.name}" already`);
    if (this.#added.size === MAX_MADE_TOOLS)
      throw new TypeError(`more than ${MAX_MADE_TOOLS} tools added to one model call`);
    this.#added.set(name, tool);
  }

  /** The agent as this model call sees it. */
  agent(): AnyAgent {
    if (this.#hidden.size === 0 && this.#added.size === 0) return this.#agent;
    return withTools(this.#agent, this.#hidden, [...this.#added.values()]);
  }
}

/** Agents with other tools, by the names and origins of those: prompts are kept by agent. */
const known = new WeakMap<AnyAgent, Map<string, AnyAgent>>();
const MAX_KNOWN = 100;

function withTools(
  agent: AnyAgent,
  hidden: ReadonlySet<string>,
  added: readonly AnyTool[],
): AnyAgent {
  const make = (): AnyAgent => ({
    ...agent,
    tools: [...agent.tools.filter(({ name }) => !hidden.has(name)), ...added],
  });
  // A tool that `prepare` adds by itself may be another one each time.
  if (added.some(({ made }) => made?.factory === undefined)) return make();
  const key = JSON.stringify([[...hidden].sort(), added.map(({ made }) => made)]);
  const agents = known.get(agent) ?? new Map<string, AnyAgent>();
  known.set(agent, agents);
  const changed = agents.get(key) ?? make();
  if (agents.size < MAX_KNOWN) agents.set(key, changed);
  return changed;
}
