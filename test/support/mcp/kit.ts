/** The MCP server of the tests: a tool for each thing that a server may do. */
import { acceptedContent, inputRequired, McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';

/** Records of a server over all of its instances: each request may have its own. */
export interface McpLedger {
  readonly runs: string[];
  /** Calls that were cancelled while they ran. */
  readonly cancelled: string[];
  /** Registered in addition. */
  extra: string[];
  /** Not registered. */
  hidden: string[];
  /** Ends the wait of `slow`. */
  release: () => void;
  /** Rejects a `requestState` that this server did not mint. */
  readonly states: Set<string>;
}

export function mcpLedger(): McpLedger {
  return {
    runs: [],
    cancelled: [],
    extra: [],
    hidden: [],
    release: () => undefined,
    states: new Set(),
  };
}

const text = (words: string) => ({ content: [{ type: 'text' as const, text: words }] });
const BRANCH = z.object({ branch: z.string().min(1), force: z.boolean().default(false) });

/** One instance over the ledger that all instances share. */
export function kitServer(ledger: McpLedger): McpServer {
  const server = new McpServer(
    { name: 'kit', version: '1.0.0' },
    { capabilities: { tools: { listChanged: true } } },
  );
  const { runs } = ledger;
  const tool: McpServer['registerTool'] = (name: string, ...rest: [never, never]) => {
    if (ledger.hidden.includes(name)) return undefined as never;
    return server.registerTool(name, ...rest) as never;
  };
  tool(
    'search',
    {
      description: 'Searches the repositories.',
      inputSchema: z.object({ query: z.string().regex(/^[a-z ]+$/) }),
      outputSchema: z.object({ hits: z.array(z.string()) }),
      annotations: { readOnlyHint: true },
    },
    ({ query }) => {
      runs.push(`search ${query}`);
      const structuredContent = { hits: [query] };
      return { ...text(JSON.stringify(structuredContent)), structuredContent };
    },
  );
  tool('delete', { description: 'Deletes a repository.', inputSchema: z.object({}) }, () => {
    runs.push('delete');
    return text('deleted');
  });
  tool(
    'fail',
    {
      description: 'Fails with its token.',
      inputSchema: z.object({ say: z.string() }),
      annotations: { idempotentHint: true, destructiveHint: false },
    },
    ({ say }) => ({ ...text(`failed: ${say}`), isError: true }),
  );
  tool(
    'slow',
    {
      description: 'Waits, and reports.',
      inputSchema: z.object({}),
      annotations: { idempotentHint: true },
    },
    async (_input, ctx) => {
      runs.push('slow');
      const { progressToken } = ctx.mcpReq._meta ?? {};
      if (progressToken !== undefined)
        await ctx.mcpReq.notify({
          method: 'notifications/progress',
          params: { progressToken, progress: 1, total: 2, message: 'half' },
        });
      await new Promise<void>((resolve) => {
        ledger.release = resolve;
        ctx.mcpReq.signal.addEventListener('abort', () => {
          ledger.cancelled.push('slow');
          resolve();
        });
      });
      return text('done');
    },
  );
  registerAsking(tool, ledger);
  for (const name of ledger.extra) addTool(server, name);
  return server;
}

/** Adds a tool, and notifies clients at once where the server can. */
export function addTool(server: McpServer, name: string): void {
  const description = `The tool ${name}.`;
  server.registerTool(name, { description, inputSchema: z.object({}) }, () => text(name));
}

function registerAsking(tool: McpServer['registerTool'], ledger: McpLedger): void {
  const { runs, states } = ledger;
  const asking = (name: string, idempotent: boolean, more = '') => {
    tool(
      name,
      {
        description: 'Pushes to a branch that it asks for.',
        inputSchema: z.object({ repository: z.string() }),
        ...(idempotent ? { annotations: { idempotentHint: true } } : {}),
      },
      ({ repository }, ctx) => {
        const { inputResponses } = ctx.mcpReq;
        const state = ctx.mcpReq.requestState<string>();
        runs.push(`${name} ${repository} ${state ?? 'first'}`);
        const given = acceptedContent(inputResponses, 'branch');
        if (given !== undefined) {
          if (state !== undefined && !states.has(state)) throw new Error('a foreign state');
          return text(`pushed ${repository} to ${JSON.stringify(given)}`);
        }
        if (inputResponses?.['branch'] !== undefined)
          return text(`not pushed: ${JSON.stringify(inputResponses['branch'])}`);
        const requestState = `state-${states.size + 1}-of-${repository}${more}`;
        states.add(requestState);
        return inputRequired({
          requestState,
          inputRequests: {
            branch: inputRequired.elicit({ message: 'Which branch?', requestedSchema: BRANCH }),
          },
        });
      },
    );
  };
  asking('push', true);
  asking('push-large', true, 'x'.repeat(20_000));
  asking('push-once', false);
  tool(
    'deploy',
    { description: 'Asks twice, and for a login.', inputSchema: z.object({}) },
    (_input, ctx) => {
      const { inputResponses } = ctx.mcpReq;
      if (inputResponses !== undefined) return text(JSON.stringify(inputResponses));
      const requestedSchema = z.object({ ok: z.boolean() });
      return inputRequired({
        inputRequests: {
          sure: inputRequired.elicit({ message: 'Sure?', requestedSchema }),
          login: inputRequired.elicitUrl({ message: 'Log in', url: 'https://id.example.com/x' }),
          really: inputRequired.elicit({ message: 'Really?', requestedSchema }),
        },
      });
    },
  );
  tool(
    'push-form',
    { description: 'Asks with a form that is too large.', inputSchema: z.object({}) },
    (_input, ctx) => {
      runs.push('push-form');
      const { inputResponses } = ctx.mcpReq;
      if (inputResponses !== undefined) return text(JSON.stringify(inputResponses['form']));
      const fields = Array.from({ length: 200 }, (_, index) => [`field_${index}`, z.string()]);
      const requestedSchema = z.object(Object.fromEntries(fields) as Record<string, z.ZodString>);
      return inputRequired({
        inputRequests: {
          form: inputRequired.elicit({ message: 'Fill this in', requestedSchema }),
        },
      });
    },
  );
  tool('sample', { description: 'Asks for what we do not offer.', inputSchema: z.object({}) }, () =>
    inputRequired({ inputRequests: { roots: inputRequired.listRoots() } }),
  );
}
