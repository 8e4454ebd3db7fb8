/** Functions of a component as tools of the agent. */
import { useEffect, useRef } from 'react';
import type { BrowserClient, ClientTools } from '../browser/index.js';

/**
 * Runs calls of client tools while the component is mounted: of several tabs, the one whose claim is accepted runs a
 * call. A call that runs when the component is unmounted goes on. The functions may be other ones at each render: a call
 * gets those of the last one. Safe in StrictMode.
 * @param tools Functions by name of their tools; a name that another component has registered is a TypeError
 */
export function useClientTools(
  client: Pick<BrowserClient, 'registerTool'>,
  tools: ClientTools,
): void {
  const latest = useRef(tools);
  useEffect(() => {
    latest.current = tools;
  });
  const key = JSON.stringify(Object.keys(tools).sort());
  useEffect(() => {
    const removals: (() => void)[] = [];
    const remove = (): void => {
      for (const one of removals.splice(0)) one();
    };
    try {
      for (const name of JSON.parse(key) as readonly string[])
        removals.push(
          client.registerTool(name, (input, context) => {
            const tool = latest.current[name];
            if (tool === undefined)
              throw new Error(`The page no longer has the function "${name}"`);
            return tool(input, context);
          }),
        );
    } catch (error) {
      remove();
      throw error;
    }
    return remove;
  }, [client, key]);
}
