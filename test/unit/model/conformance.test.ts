import { startModelServer } from '../../../examples/demo/model-server.js';
import { openaiModel } from '../../../src/model/openai.js';
import { scriptedBy } from '../../../src/model/scripted.js';
import { describeModel } from '../../support/model-conformance.js';

describeModel('ScriptedModel', async ({ first, afterResults = first }) => ({
  model: scriptedBy(({ messages }) => ({
    type: 'answer',
    ...(messages.at(-1)?.role === 'tool' ? afterResults : first),
  })),
  close: () => Promise.resolve(),
}));

describeModel('openaiModel', async ({ first, afterResults = first, pieceDelayMs = 0 }) => {
  const server = await startModelServer({
    script: ({ results }) => (results.length > 0 ? afterResults : first),
    chunkDelayMs: pieceDelayMs,
  });
  return {
    model: openaiModel('gpt-test', { baseURL: server.url, apiKey: 'sk-test-0123456789' }),
    close: () => server.close(),
  };
});
