/**
 * A model or a tool that hangs does not hang the test: `send` returns, and a cancel, a close or a limit stops it.
 */
import { expect, it } from 'vitest';
import { z } from 'zod';
import { defineAgent, defineTool, type Model } from '../../../../src/index.js';
import { calls, hangs, says, script, testConversation } from '../../../../src/testing/index.js';

const slow = defineTool({
  name: 'report.make',
  description: 'Makes a report.',
  input: z.object({}),
  run: (_input, { signal }) =>
    new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => {
        reject(new Error('stopped'));
      });
    }),
});

const agent = (model: Model) =>
  defineAgent({ name: 'support', model, instructions: 'Help.', tools: [slow] });

it('send returns while the model hangs; a cancel ends the turn, and the next message goes on', async () => {
  const t = testConversation(agent(script(hangs(), says('Here.'))));
  await t.send('Hello?');
  expect(t.snapshot.status).toBe('streaming');
  expect(await t.cancel()).toBe(true);
  expect(t.eventsOf('turn_ended')).toMatchObject([{ status: 'cancelled' }]);
  await t.send('Still there?');
  expect(t.text).toBe('Here.');
});

it('a stop keeps the text that the model had sent', async () => {
  const hanging = script(hangs());
  const model: Model = {
    name: 'halting',
    generate: (request, options) => {
      for (const text of ['Let me ', 'think']) options.onEvent({ type: 'text', text });
      return hanging.generate(request, options);
    },
  };
  const t = testConversation(agent(model));
  await t.send('Hello?');
  await t.cancel();
  expect(t.eventsOf('assistant_message')).toMatchObject([
    { partial: true, parts: [{ type: 'text', text: 'Let me think' }] },
  ]);
  expect(t.text).toBe('Let me think');
});

it('closing the conversation ends a hanging turn', async () => {
  const t = testConversation(agent(script(hangs())));
  await t.send('Hello?');
  t.close();
  await t.settle();
  expect(t.eventsOf('turn_ended')).toMatchObject([{ status: 'cancelled' }]);
  expect(t.snapshot.status).toBe('closed');
});

it('a cancel of the turn stops a running tool, by its signal', async () => {
  const t = testConversation(agent(script(calls('report.make', {}))));
  const sent = t.send('A report');
  await expect.poll(() => t.eventsOf('tool_call')).toHaveLength(1);
  await t.cancel();
  await sent;
  expect(t.eventsOf('turn_ended')).toMatchObject([{ status: 'cancelled' }]);
  expect(t.result('report.make')).toMatchObject({ ok: false, error: { code: 'cancelled' } });
});
