import { defineAgent, openaiModel } from 'colloquy';
import { says, scriptedBy } from 'colloquy/testing';

/** Without a key the model is scripted: it counts what it has read. */
const model =
  process.env['OPENAI_API_KEY'] === undefined
    ? scriptedBy(({ messages }) => {
        const read = messages.filter(({ role }) => role === 'user').length;
        return says(`Hello! I have read ${read} message${read === 1 ? '' : 's'} of yours.`);
      })
    : openaiModel('gpt-5.1');

export const greeter = defineAgent({
  name: 'greeter',
  instructions: 'Greet the user in one sentence.',
  model,
});
