import { startModelServer } from '../../../../examples/demo/model-server.js';
import { openaiModel } from '../../../../src/model/openai/adapter.js';
import { scriptedBy } from '../../../../src/model/scripted/scripted.js';
import { toWireName } from '../../../../src/protocol/values/tool-names.js';
import type { PlannedAnswer } from '../../../../src/testing/describe-model.js';
import { describeModel } from '../../../support/conformance/model.js';
import { startWireServer } from '../../../support/networks/wire-server.js';
import { type PlainAnswer, responsesEvents } from '../../../support/samples/wire-events.js';

const KEY = 'sk-test-0123456789';

describeModel('ScriptedModel', async ({ first, afterResults = first }) => ({
  model: scriptedBy(({ messages }) => ({
    type: 'answer',
    ...(messages.at(-1)?.role === 'tool' ? afterResults : first),
  })),
  close: () => Promise.resolve(),
}));

describeModel('openaiModel (chat)', async ({ first, afterResults = first, pieceDelayMs = 0 }) => {
  const server = await startModelServer({
    script: ({ results }) => (results.length > 0 ? afterResults : first),
    chunkDelayMs: pieceDelayMs,
  });
  return {
    model: openaiModel('gpt-test', { baseURL: server.url, apiKey: KEY, api: 'chat' }),
    close: () => server.close(),
  };
});

describeModel('openaiModel (responses)', async (plan) => {
  const { first, afterResults = first, pieceDelayMs = 0 } = plan;
  const server = await startWireServer(({ body }) => {
    const input = body['input'] as readonly { readonly type?: string }[];
    const isAfter = input.at(-1)?.type === 'function_call_output';
    return {
      events: responsesEvents(plainAnswer(isAfter ? afterResults : first)),
      delayMs: pieceDelayMs,
    };
  });
  return {
    model: openaiModel('gpt-test', { baseURL: server.url, apiKey: KEY, api: 'responses' }),
    close: () => server.close(),
  };
});

function plainAnswer({ text = '', calls = [] }: PlannedAnswer): PlainAnswer {
  return {
    text,
    calls: calls.map(({ name, input }, index) => ({
      id: `call_${index + 1}`,
      name: toWireName(name),
      arguments: JSON.stringify(input),
    })),
  };
}
