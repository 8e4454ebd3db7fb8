import { initColloquy } from 'colloquy';
import { calls, says, scriptedBy } from 'colloquy/testing';
import { z } from 'zod';

const { defineTool, defineAgent } = initColloquy();

const render = defineTool({
  name: 'video.render',
  description: 'Renders a video on the machines of another team.',
  executor: 'external',
  input: z.object({ scene: z.string() }),
  output: z.object({ url: z.url(), seconds: z.int() }),
  streaming: true,
  timeouts: { claim: '1 hour', answer: '6 hours' },
});

export const director = defineAgent({
  name: 'director',
  instructions: 'You make videos.',
  model: scriptedBy(({ messages }) =>
    messages.at(-1)?.role === 'tool'
      ? says('The video is ready: https://videos.example/sea')
      : calls('video.render', { scene: 'sea' }),
  ),
  tools: [render],
});
