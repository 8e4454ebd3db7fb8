/** Answers of a model go back in the next request: in the form of its API, over real connections. */
import type OpenAI from 'openai';
import { expect, it, onTestFinished } from 'vitest';
import { openaiModel } from '../../../../src/model/openai/adapter.js';
import type { Message, TextSource } from '../../../../src/protocol/conversation/messages.js';
import { startWireServer, type WireAnswer } from '../../../support/networks/wire-server.js';
import { chatEvents, eventsOf, message, thought } from '../../../support/samples/wire-events.js';

const TEXT = 'It rains.';
const NO = 'I would rather not say more.';
const RAIN = {
  type: 'url_citation',
  url: 'https://example.com/rain',
  title: 'Rain',
  start_index: 0,
  end_index: 2,
} as const;
const SOURCE: TextSource = {
  type: 'url',
  url: RAIN.url,
  title: RAIN.title,
  startIndex: 0,
  endIndex: 2,
};
const QUESTION: Message = {
  role: 'user',
  id: 'u',
  turnId: 't1',
  parts: [{ type: 'text', text: 'Does it rain?' }],
};

/** The answer, and the conversation in the next request. */
async function answeredTwice(api: 'chat' | 'responses', answer: WireAnswer) {
  const server = await startWireServer(() => answer);
  onTestFinished(() => server.close());
  const model = openaiModel('m-1', { api, baseURL: server.url, apiKey: 'sk-test-0123456789' });
  const ask = (messages: readonly Message[]) =>
    model.generate(
      { system: '', messages, tools: [] },
      { signal: new AbortController().signal, onEvent: () => undefined },
    );
  const response = await ask([QUESTION]);
  const said: Message = {
    role: 'assistant',
    id: 'a',
    turnId: 't1',
    step: 1,
    parts: response.parts,
  };
  await ask([QUESTION, said, { ...QUESTION, id: 'u2', turnId: 't2' }]);
  const { body } = server.requests[1] ?? {};
  const sent = (body?.['messages'] ?? body?.['input']) as readonly unknown[];
  return { response, sent: sent.slice(1, -1) };
}

it('thoughts, sources and a refusal of Responses go back as the items that they were', async () => {
  const items = [
    thought('rs_1', 'Let me see.'),
    message('msg_1', [{ type: 'output_text', text: TEXT, annotations: [RAIN] }]),
    message('msg_2', [{ type: 'refusal', refusal: NO }]),
  ] satisfies OpenAI.Responses.ResponseOutputItem[];
  const { response, sent } = await answeredTwice('responses', { events: eventsOf(items) });
  expect(response).toMatchObject({ finishReason: 'refusal', usage: { cachedInputTokens: 64 } });
  expect(response.parts).toContainEqual({ type: 'text', text: TEXT, sources: [SOURCE] });
  expect(sent).toEqual(items);
});

it('sources of Chat Completions are kept with the text; only the text goes back, since the API has no place for them', async () => {
  const nested = { type: 'url_citation', url_citation: { ...RAIN, type: undefined } };
  const [first, ...rest] = chatEvents({ text: TEXT, reasoning: 'Let me see.' });
  const cited = { ...first, choices: [{ index: 0, delta: { annotations: [nested] } }] };
  const { response, sent } = await answeredTwice('chat', { events: [cited, ...rest] });
  expect(response.parts).toEqual([
    { type: 'reasoning', text: 'Let me see.' },
    { type: 'text', text: TEXT, sources: [SOURCE] },
  ]);
  expect(response.usage).toMatchObject({ cachedInputTokens: 64 });
  expect(sent).toEqual([{ role: 'assistant', content: TEXT }]);
});

it('a refusal through Chat Completions goes back as its text', async () => {
  const { response, sent } = await answeredTwice('chat', { events: chatEvents({ refusal: NO }) });
  expect(response.finishReason).toBe('refusal');
  expect(sent).toEqual([{ role: 'assistant', content: NO }]);
});
