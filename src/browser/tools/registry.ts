/** The functions of a page by name of their tools; parts of the page may add theirs later. */
import type { ClientTool, ClientTools } from './types.js';

export class ToolRegistry {
  readonly #tools: Map<string, ClientTool>;
  readonly #listeners = new Set<() => void>();

  constructor(tools: ClientTools = {}) {
    this.#tools = new Map(Object.entries(tools));
  }

  find(name: string): ClientTool | undefined {
    return this.#tools.get(name);
  }

  /** Returns how to take the function away again; calls that run go on. @throws {TypeError} for a name that is taken */
  add(name: string, tool: ClientTool): () => void {
    if (this.#tools.has(name)) throw new TypeError(`the tool "${name}" is registered already`);
    this.#tools.set(name, tool);
    for (const listener of this.#listeners) listener();
    return () => {
      if (this.#tools.get(name) === tool) this.#tools.delete(name);
    };
  }

  onAdd(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
