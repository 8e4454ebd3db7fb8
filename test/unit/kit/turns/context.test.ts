/** Long conversations in `testConversation`: budgets, stubs and summaries as a worker would have them. */
import { expect, it } from 'vitest';
import { z } from 'zod';
import { type ContextSpec, defineAgent, defineTool } from '../../../../src/index.js';
import type { ModelRequest } from '../../../../src/protocol/model/model.js';
import {
  calls,
  fails,
  says,
  script,
  scriptedBy,
  testConversation,
} from '../../../../src/testing/index.js';

const lookup = defineTool({
  name: 'lookup',
  description: 'Looks up.',
  input: z.object({}),
  run: () => 'word '.repeat(150),
  retention: { turns: 1 },
});
const words = (count: number): string => 'word '.repeat(count);
const agent = (model: Parameters<typeof defineAgent>[0]['model'], context: ContextSpec) =>
  defineAgent({ name: 'support', model, instructions: 'Help.', tools: [lookup], context });
const shown = (request: ModelRequest | undefined): string => JSON.stringify(request?.messages);

it('near the budget old results are stubs, and the log says how many', async () => {
  const model = scriptedBy(({ messages }) =>
    messages.at(-1)?.role === 'user' ? calls('lookup', {}) : says('ok'),
  );
  const t = testConversation(agent(model, { maxTokens: 900, summarize: false }));
  for (let turn = 0; turn < 4; turn += 1) await t.send('look');
  const { context } = t.events.findLast((event) => event.type === 'model_call')!;
  expect(context).toMatchObject({ budget: 900, evictedResults: 3 });
  expect(shown(model.requests.at(-1)).match(/\[result expired\]/g)).toHaveLength(3);
  expect(t.snapshot.context).toMatchObject({ evictedResults: 3 });
});

it('old turns are summarised, and the model reads the summary in their place', async () => {
  const summarizer = script(says('They greeted each other.'), says('And went on.'));
  const model = scriptedBy(() => says(words(100)));
  const summarize = { model: summarizer, instructions: 'Be brief.' };
  const t = testConversation(agent(model, { maxTokens: 800, summarize }));
  for (let turn = 0; turn < 8; turn += 1) await t.send(`message ${turn}`);
  const [summary] = t.events.filter((event) => event.type === 'summary');
  expect(summary).toMatchObject({ ordinal: 1, text: 'They greeted each other.' });
  expect(summarizer.requests[0]).toMatchObject({ system: 'Be brief.', tools: [] });
  expect(shown(summarizer.requests[0])).toContain('User: message 0');
  const last = shown(model.requests.at(-1));
  expect(last).toContain('They greeted each other.');
  expect(last).not.toContain('message 0');
  expect(t.snapshot.context).toMatchObject({ summary: 1 });
});

it('a summary that fails costs no turn, and is tried again later', async () => {
  const summarizer = script(fails('model_rate_limited'), says('At last.'));
  const model = scriptedBy(() => says(words(100)));
  const t = testConversation(agent(model, { maxTokens: 800, summarize: { model: summarizer } }));
  for (let turn = 0; turn < 8; turn += 1) await t.send(`message ${turn}`);
  expect(t.events.filter((event) => event.type === 'turn_ended')).toHaveLength(8);
  expect(t.events.filter((event) => event.type === 'summary')).toMatchObject([
    { text: 'At last.' },
  ]);
});

it('a turn that no budget holds fails with a clear text, and the next message goes on', async () => {
  const model = scriptedBy(() => says('ok'));
  const t = testConversation(agent(model, { maxTokens: 500 }));
  await t.send(words(900));
  expect(t.events.at(-1)).toMatchObject({
    type: 'turn_ended',
    status: 'failed',
    error: { code: 'model_context_too_long' },
  });
  await t.send('short');
  expect(t.events.at(-1)).toMatchObject({ type: 'turn_ended', status: 'completed', text: 'ok' });
});

it('a context that a provider finds too long is sent again with less, in the same turn', async () => {
  const model = script(
    says(words(50)),
    says(words(50)),
    fails('model_context_too_long'),
    says('now it fits'),
  );
  const t = testConversation(agent(model, {}));
  await t.send('one');
  await t.send('two');
  await t.send('three');
  expect(t.events.at(-1)).toMatchObject({ type: 'turn_ended', text: 'now it fits' });
  expect(t.events.findLast((event) => event.type === 'model_call')).toMatchObject({
    context: { compacted: 'too_long' },
  });
});
