/** The agents for the first-token measurement, one for each API. */
import { defineAgent, openaiModel } from 'colloquy';

function streaming(api: 'chat' | 'responses') {
  return defineAgent({
    name: `bench-streaming-${api}`,
    model: openaiModel('stamped', {
      baseURL: process.env['BENCH_MODEL_URL'] ?? 'http://127.0.0.1:1/v1',
      api,
      apiKey: 'none',
      contextTokens: 1_000_000,
    }),
    instructions: 'Stream.',
  });
}

export const chat = streaming('chat');
export const responses = streaming('responses');
