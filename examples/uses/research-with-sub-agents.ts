/** Use: an agent that has two others work for it at once, one of which asks a person. */
import { agentTool, defineAgent, defineTool } from 'colloquy';
import { calls, callsAll, says, scriptedBy, testConversation } from 'colloquy/testing';
import { z } from 'zod';

const buys = scriptedBy(({ messages }) =>
  messages.at(-1)?.role === 'tool'
    ? says('{"answer":"The report says 42.","sources":["report"]}')
    : calls('reports.buy', { title: 'Markets' }),
);
const reads = scriptedBy(() => says('Nothing is known.'));
const asks = scriptedBy(({ messages }) =>
  messages.at(-1)?.role === 'tool'
    ? says('The report says 42; the archive has nothing.')
    : callsAll([
        { name: 'research', input: { question: 'How large is the market?' } },
        { name: 'archive', input: { task: 'Look for the market' } },
      ]),
);

// #region agents
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
  model: buys,
  instructions: 'Find out. Name your sources.',
  tools: [buy],
});
const archivist = defineAgent({ name: 'archivist', model: reads, instructions: 'Search.' });

const analyst = defineAgent({
  name: 'analyst',
  model: asks,
  instructions: 'Answer with what the others find.',
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
// #endregion agents

/** The answer of the analyst, once a person has approved what its researcher buys. */
export async function anAnalystHasOthersResearch(): Promise<string> {
  const t = testConversation(analyst);
  await t.send('How large is the market?');
  // #region waits
  // The archivist has answered. The researcher waits for a person, in a conversation of its own.
  await t.advance('20 hours');
  await t.child('researcher').approve('reports.buy');
  // #endregion waits
  t.expectNothingOpen();
  return t.text;
}
