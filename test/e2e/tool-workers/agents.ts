/** An agent that has six videos rendered at once by another backend. `colloquy worker` loads this source. */
import { initColloquy } from 'colloquy';
import { callsAll, says, scriptedBy } from 'colloquy/testing';
import { z } from 'zod';

const { defineTool, defineAgent } = initColloquy();
const CALLS = 6;

const render = defineTool({
  name: 'video.render',
  description: 'Renders a video.',
  executor: 'external',
  input: z.object({ scene: z.string() }),
  output: z.object({ claimId: z.string(), scene: z.string() }),
  timeouts: { claim: '1 hour', answer: '6 hours' },
});

export const director = defineAgent({
  name: 'director',
  instructions: 'You make videos.',
  model: scriptedBy(({ messages }) =>
    messages.at(-1)?.role === 'tool'
      ? says('done')
      : callsAll(
          Array.from({ length: CALLS }, (_, index) => ({
            name: 'video.render',
            input: { scene: `scene ${index}` },
          })),
        ),
  ),
  tools: [render],
});
