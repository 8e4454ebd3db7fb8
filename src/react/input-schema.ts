/** The agents with the schemas of their tools: read when a person edits arguments, once for each client. */
import { useEffect, useState } from 'react';
import type { BrowserClient } from '../browser/index.js';
import { type AgentManifest, agentsOf } from '../browser/worklist/index.js';

const READ = new WeakMap<BrowserClient, Promise<readonly AgentManifest[]>>();

/** The schema of the tool's input as the model gets it. `undefined`: not read yet; `null`: there is none. */
export function useInputSchema(
  client: BrowserClient,
  { agent, tool }: { readonly agent: string; readonly tool: string },
): unknown {
  const [agents, setAgents] = useState<readonly AgentManifest[]>();
  useEffect(() => {
    let isGone = false;
    const reading = READ.get(client) ?? agentsOf(client);
    READ.set(client, reading);
    const take = (read: readonly AgentManifest[]): void => {
      if (!isGone) setAgents(read);
    };
    // Without schemas the arguments are edited as JSON, and the API judges them all the same.
    reading.then(take, () => {
      READ.delete(client);
      take([]);
    });
    return () => {
      isGone = true;
    };
  }, [client]);
  if (agents === undefined) return undefined;
  const tools = agents.find(({ name }) => name === agent)?.tools;
  return tools?.find(({ name }) => name === tool)?.inputSchema ?? null;
}
