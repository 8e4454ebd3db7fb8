/** Functions of this page that agents of the space call: `cart.read` is one that runs in the browser. */
import type { BrowserSpace } from 'colloquy/browser/spaces';

export type PageTools = Readonly<Record<string, (input: unknown) => unknown>>;

/**
 * Runs the calls that wait for a page, each once. Where the space is open in several pages, each of them runs the call
 * and the first answer counts: such a function only reads, or holds the call by a claim of its conversation.
 */
export function runTools(space: BrowserSpace, tools: PageTools): void {
  const taken = new Set<string>();
  const look = (): void => {
    for (const { id, metadata } of space.getSnapshot().messages) {
      const { toolName, waitsFor, input } = metadata ?? {};
      if (waitsFor !== 'client_execution' || typeof toolName !== 'string' || taken.has(id))
        continue;
      const tool = Object.hasOwn(tools, toolName) ? tools[toolName] : undefined;
      if (tool === undefined) continue;
      taken.add(id);
      // Without an answer of the API the call is run again when the space changes.
      run(space, id, () => tool(input)).catch(() => taken.delete(id));
    }
  };
  space.subscribe(look);
  look();
}

async function run(space: BrowserSpace, id: string, tool: () => unknown): Promise<void> {
  let result: Parameters<BrowserSpace['answer']>[1];
  try {
    result = { type: 'result', value: (await tool()) as never };
  } catch (error) {
    result = { type: 'error', message: error instanceof Error ? error.message : String(error) };
  }
  const { verdict } = await space.answer(id, result);
  if (verdict === 'invalid' && result.type === 'result')
    await space.answer(id, { type: 'error', message: 'The page returned no valid result' });
}
