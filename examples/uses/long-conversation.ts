/** Use: an agent with endless conversations, and the part of them that its model gets. */
import { initColloquy } from 'colloquy';
import { says, script, scriptedBy, testConversation } from 'colloquy/testing';
import { z } from 'zod';

const { defineTool, defineAgent } = initColloquy();

const model = scriptedBy(({ messages }) =>
  says(`I read ${messages.length} messages. ${'and so on '.repeat(40)}`),
);
const cheapModel = script(says('They counted messages.'));

// #region agent
const search = defineTool({
  name: 'notes.search',
  description: 'Searches notes.',
  input: z.object({ query: z.string() }),
  // Only the newest three results are worth their tokens.
  retention: { last: 3 },
  run: ({ query }) => [`a note about ${query}`],
});

const companion = defineAgent({
  name: 'companion',
  model,
  instructions: 'You know the user well.',
  tools: [search],
  context: {
    maxTokens: 1_000,
    summarize: { model: cheapModel, instructions: 'Keep names, dates and promises.' },
  },
});
// #endregion agent

/** The number of messages in the last request to the model, and its summary. */
export async function aLongConversation(): Promise<{ messages: number; summary: number }> {
  const t = testConversation(companion);
  // #region seen
  for (let day = 1; day <= 8; day += 1) await t.send(`Day ${day}`);
  const { messages = 0, summary = 0 } = t.snapshot.context ?? {};
  // #endregion seen
  return { messages, summary };
}
