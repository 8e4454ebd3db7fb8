import { agentTool, defineAgent, defineTool } from 'colloquy';
import { calls, callsAll, says, scriptedBy } from 'colloquy/testing';
import { z } from 'zod';

const buy = defineTool({
  name: 'reports.buy',
  description: 'Buys a report.',
  input: z.object({ title: z.string() }),
  effects: 'once',
  approval: { ask: { reason: 'costs money' } },
  run: ({ title }) => `${title}: 42`,
});

const researcher = defineAgent({
  name: 'researcher',
  instructions: 'Find out. Name your sources.',
  model: scriptedBy(({ messages }) =>
    messages.at(-1)?.role === 'tool'
      ? says('{"answer":"The report says 42.","sources":["report"]}')
      : calls('reports.buy', { title: 'Markets' }),
  ),
  tools: [buy],
});

const archivist = defineAgent({
  name: 'archivist',
  instructions: 'Search.',
  model: scriptedBy(() => says('Nothing is known.')),
});

export const analyst = defineAgent({
  name: 'analyst',
  instructions: 'Answer with what the others find.',
  model: scriptedBy(({ messages }) =>
    messages.at(-1)?.role === 'tool'
      ? says('The report says 42; the archive has nothing.')
      : callsAll([
          { name: 'research', input: { question: 'How large is the market?' } },
          { name: 'archive', input: { task: 'Look for the market' } },
        ]),
  ),
  tools: [
    agentTool(researcher, {
      name: 'research',
      description: 'Researches a question.',
      input: z.object({ question: z.string() }),
      output: z.object({ answer: z.string(), sources: z.array(z.string()) }),
      budgets: { tokens: 50_000 },
    }),
    agentTool(archivist, { name: 'archive', description: 'Searches the archive.' }),
  ],
});
