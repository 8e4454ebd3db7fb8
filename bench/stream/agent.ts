/** The agent whose first tokens are timed. */
import { defineAgent, openaiModel } from 'colloquy';

export const streaming = defineAgent({
  name: 'bench-streaming',
  model: openaiModel('stamped', {
    baseURL: process.env['BENCH_MODEL_URL'] ?? 'http://127.0.0.1:1/v1',
    api: 'chat',
    apiKey: 'none',
    contextTokens: 1_000_000,
  }),
  instructions: 'Stream.',
});
