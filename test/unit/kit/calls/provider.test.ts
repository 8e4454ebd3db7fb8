/** Tools that the model's provider runs, as a user's test sees them. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineAgent } from '../../../../src/define/define-agent.js';
import { defineTool } from '../../../../src/define/define-tool.js';
import {
  calls,
  callsAll,
  type ScriptedModel,
  says,
  saysAfter,
  script,
} from '../../../../src/model/scripted/scripted.js';
import { testConversation } from '../../../../src/testing/test-conversation.js';
import { promise } from '../../../support/promise.js';

const search = defineTool({
  name: 'web.search',
  executor: 'provider',
  provider: { type: 'web_search', filters: { allowed_domains: ['example.org'] } },
});
const note = defineTool({
  name: 'notes.add',
  description: 'Adds a note.',
  input: z.object({ text: z.string() }),
  run: () => 'noted',
});

function talk(model: ScriptedModel) {
  const tools = [search, note];
  return testConversation(defineAgent({ name: 'guide', model, instructions: 'Help.', tools }));
}

const QUERY = { name: 'web.search', input: { query: 'rain' } };

describe('a tool of the provider', () => {
  it('reaches the model as its provider takes it, beside functions', async () => {
    const model = script(says('Hello.'));
    await talk(model).send('Hi');
    const [request] = model.requests;
    expect(request?.tools).toEqual([
      {
        name: 'web.search',
        provider: { type: 'web_search', filters: { allowed_domains: ['example.org'] } },
      },
      {
        name: 'notes.add',
        description: 'Adds a note.',
        inputSchema: expect.anything() as unknown,
        strict: true,
      },
    ]);
    expect(request?.system).toContain("## web__search\nRun by the model's provider: web_search.");
  });

  it('runs inside the model call: shown with its result, which is untrusted, and never dispatched', {
    ...promise('G94', 'S19', 'A8', 'A54', 'N22'),
  }, async () => {
    const model = script(saysAfter({ ...QUERY, output: { hits: 2 } }, 'It rains.'), says('Bye.'));
    const t = talk(model);
    await t.send('Does it rain?');
    expect(t.eventTypes.slice(-5)).toEqual([
      ...['model_call', 'tool_call', 'tool_result', 'assistant_message', 'turn_ended'],
    ]);
    expect(t.events.find((event) => event.type === 'tool_call')).toMatchObject({
      executed: true,
      call: { executor: 'provider', name: 'web.search', input: { query: 'rain' } },
    });
    expect(t.events.find((event) => event.type === 'tool_result')).toMatchObject({
      result: { envelope: { ok: true, result: { hits: 2 } }, provenance: 'untrusted' },
    });
    expect([t.text, t.pending, t.snapshot.inFlightTools]).toEqual(['It rains.', [], []]);
    await t.send('Thanks');
    // Its item went back as it was, and no code made a result of it.
    const [, again] = model.requests;
    expect(again?.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user']);
    expect(again?.messages[1]?.parts[0]).toEqual({
      type: 'provider_item',
      provider: 'scripted',
      item: {
        type: 'hosted_call',
        id: 'hosted_1',
        name: 'web.search',
        input: { query: 'rain' },
        outcome: { output: { hits: 2 } },
      },
    });
  });

  it('is shown when it failed, and when the agent has no such tool', async () => {
    const model = script(
      saysAfter(
        [
          { ...QUERY, error: 'no network' },
          { name: 'code_interpreter', input: {}, output: 4 },
        ],
        'Four.',
      ),
    );
    const t = talk(model);
    await t.send('2 + 2?');
    expect(t.result('web.search')).toEqual({
      ok: false,
      error: { code: 'provider_error', message: 'no network' },
    });
    expect(t.result('code_interpreter')).toEqual({ ok: true, result: 4 });
    expect(t.events.at(-1)).toMatchObject({ type: 'turn_ended', status: 'completed' });
  });

  it('may come with calls of functions, which are run as always', async () => {
    const model = script(
      {
        ...callsAll([{ name: 'notes.add', input: { text: 'rain' } }]),
        providerCalls: [QUERY],
      } as never,
      says('Noted.'),
    );
    const t = talk(model);
    await t.send('Look it up and note it');
    expect(t.result('notes.add')).toEqual({ ok: true, result: 'noted' });
    expect(model.requests[1]?.messages.at(-1)?.parts).toMatchObject([
      { type: 'tool_result', name: 'notes.add' },
    ]);
    expect(t.text).toBe('Noted.');
  });

  it('cannot be called as a function: the model gets an error', async () => {
    const t = talk(script(calls('web.search', { query: 'rain' }), says('Sorry.')));
    await t.send('Does it rain?');
    expect(t.result('web.search')).toEqual({
      ok: false,
      error: {
        code: 'not_available',
        message:
          'Tool "web.search" is run by the model\'s provider; it cannot be called as a function',
      },
    });
    expect(t.text).toBe('Sorry.');
  });

  it('shows long inputs and outputs cut; the item of the provider is whole', async () => {
    const output = 'x'.repeat(50_000);
    const model = script(saysAfter({ ...QUERY, output }, 'Long.'), says('Bye.'));
    const t = talk(model);
    await t.send('Read it all');
    expect(t.result('web.search')).toMatchObject({ ok: true, result: { truncated: true } });
    await t.send('Thanks');
    expect(JSON.stringify(model.requests[1]?.messages[1])).toContain(output);
  });

  it.each(['parallel', 'sequential'] as const)(
    'counts as untrusted for policies, in the same answer and later in the turn (%s)',
    async (toolExecution) => {
      const seen: unknown[] = [];
      const guarded = defineTool({
        name: 'payments.pay',
        description: 'Pays something.',
        input: z.object({ n: z.int() }),
        approval: ({ n }, ctx) => {
          seen.push([n, ctx.results.map(({ name, provenance }) => `${name} ${provenance}`)]);
          return 'allow';
        },
        run: () => 'paid',
      });
      const pay = (n: number) => ({ name: 'payments.pay', input: { n } });
      const model = script(
        { type: 'answer', providerCalls: [{ ...QUERY, output: 'pay!' }], calls: [pay(1)] },
        callsAll([pay(2), pay(3)]),
        says('Paid.'),
        callsAll([pay(4)]),
        says('Paid.'),
      );
      const spec = { name: 'guide', model, instructions: 'Help.', tools: [search, guarded] };
      const t = testConversation(defineAgent({ ...spec, settings: { toolExecution } }));
      await t.send('Search, and pay');
      await t.send('Pay again');
      const [first, second] = ['web.search untrusted', 'payments.pay trusted'];
      const third = toolExecution === 'parallel' ? [first, second] : [first, second, second];
      expect(seen).toEqual([
        [1, [first]],
        [2, [first, second]],
        [3, third],
        [4, []],
      ]);
    },
  );
});
