/** The agent that is the tenth member of each space: it has nothing to say. */
import { defineAgent } from 'colloquy';
import { spacesPlugin } from 'colloquy/spaces';
import { calls, says, scriptedBy } from 'colloquy/testing';

export const listener = defineAgent({
  name: 'bench-listener',
  model: scriptedBy(({ messages }) =>
    messages.at(-1)?.role === 'tool' ? says('') : calls('skip', {}),
  ),
  instructions: 'Listen.',
  plugins: [spacesPlugin()],
});
