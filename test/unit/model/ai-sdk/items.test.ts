/** Items that a provider needs back from its answers: kept as they came, and sent to no other provider. */
import { MockLanguageModelV3, MockLanguageModelV4 } from 'ai/test';
import { describe, expect, it } from 'vitest';
import { aiSdkModel } from '../../../../src/model/ai-sdk/adapter.js';
import type { Message } from '../../../../src/protocol/conversation/messages.js';
import type { Json } from '../../../../src/protocol/values/json.js';
import {
  ask,
  asked,
  call,
  ends,
  type Part,
  REQUEST,
  says,
  sentOf,
  streaming,
  streamOf,
} from '../../../support/fakes/language-models.js';
import { promise } from '../../../support/promise.js';

describe("an item with a provider's mark", () => {
  const MARK = (word: string) => ({ acme: { word } });

  it('goes back to it with the text, the thought and the call that it belongs to, in their order', {
    ...promise('G108'),
  }, async () => {
    const answer = await ask(
      streaming(
        { type: 'reasoning-start', id: 'r1', providerMetadata: MARK('first') },
        { type: 'reasoning-delta', id: 'r1', delta: 'Hm.', providerMetadata: MARK('last') },
        { type: 'reasoning-end', id: 'r1' },
        call('c1', '{"a":1}', { providerMetadata: MARK('call') }),
        { type: 'reasoning-start', id: 'r2', providerMetadata: MARK('hidden') },
        { type: 'reasoning-end', id: 'r2' },
        call('c2'),
        { type: 'text-start', id: 't1' },
        { type: 'text-delta', id: 't1', delta: 'Well.' },
        { type: 'text-end', id: 't1', providerMetadata: MARK('text') },
        call('c3'),
        ends('tool-calls'),
      ),
    );
    expect(answer.parts.filter(({ type }) => type !== 'provider_item')).toEqual([
      { type: 'reasoning', text: 'Hm.' },
      { type: 'text', text: 'Well.' },
    ]);
    // The second has an id of the engine's: the provider's was there before.
    const calls = [asked('c1', '{"a":1}'), asked('minted'), asked('c3')];
    expect((await sentOf([...answer.parts, ...calls])).content).toEqual([
      { type: 'reasoning', text: 'Hm.', providerOptions: MARK('last') },
      {
        ...{ type: 'tool-call', toolCallId: 'c1', toolName: 'cart__read', input: { a: 1 } },
        providerOptions: MARK('call'),
      },
      { type: 'reasoning', text: '', providerOptions: MARK('hidden') },
      { type: 'tool-call', toolCallId: 'minted', toolName: 'cart__read', input: {} },
      { type: 'text', text: 'Well.', providerOptions: MARK('text') },
      { type: 'tool-call', toolCallId: 'c3', toolName: 'cart__read', input: {} },
    ]);
  });

  it.each<[string, Json]>([
    ['of a type that this version does not know', { type: 'hologram', url: 'data:,x' }],
    ['without a type', {}],
    ['that is no object', 'text'],
    ['that lacks what its type has', { type: 'tool-call', toolCallId: 'c1' }],
    ['with marks that are none', { type: 'text', providerMetadata: 'x' }],
  ])('is omitted where it is an item %s; the rest is sent', async (_, item) => {
    const answer = await ask(
      streaming(
        { type: 'text-start', id: 't1' },
        { type: 'text-delta', id: 't1', delta: 'Well.' },
        { type: 'text-end', id: 't1', providerMetadata: MARK('text') },
        ends(),
      ),
    );
    const marks = answer.parts.find((part) => part.type === 'provider_item');
    if (marks === undefined) throw new TypeError('no item');
    expect((await sentOf([...answer.parts, { ...marks, item }])).content).toEqual([
      { type: 'text', text: 'Well.', providerOptions: MARK('text') },
    ]);
  });

  it('is the only kind of item: plain text stays plain text', async () => {
    const answer = await ask(streaming(...says('One.', '0'), ...says('Two.', '1'), ends()));
    expect(answer.parts).toEqual([
      { type: 'text', text: 'One.' },
      { type: 'text', text: 'Two.' },
    ]);
  });

  it('stays with it: another provider gets the text, and no thought', async () => {
    const answer = await ask(
      streaming(
        { type: 'reasoning-start', id: 'r', providerMetadata: MARK('a') },
        { type: 'reasoning-delta', id: 'r', delta: 'Hm.' },
        { type: 'text-start', id: 't', providerMetadata: MARK('b') },
        { type: 'text-delta', id: 't', delta: 'Well.' },
        { type: 'custom', kind: 'acme.thing', providerMetadata: MARK('c') },
        ends(),
      ),
    );
    const other = new MockLanguageModelV4({
      provider: 'other',
      doStream: () => Promise.resolve({ stream: streamOf([ends()]) }),
    });
    const sent = await sentOf(answer.parts, other);
    expect(sent.content).toEqual([{ type: 'text', text: 'Well.' }]);
  });

  it('of thoughts that a stop cut off is absent, so they are not sent', async () => {
    const sent = await sentOf([
      { type: 'reasoning', text: 'Half a thou' },
      { type: 'text', text: 'Half a sen' },
    ]);
    expect(sent.content).toEqual([{ type: 'text', text: 'Half a sen' }]);
  });

  it('as custom content and small files goes back as it came, to either version of the specification', async () => {
    const parts: readonly Part[] = [
      { type: 'custom', kind: 'acme.thing', providerMetadata: MARK('c') },
      { type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'aGk=' } },
      {
        type: 'file',
        mediaType: 'image/png',
        data: { type: 'url', url: new URL('https://acme.test/a.png') },
      },
    ];
    const answer = await ask(streaming(...parts, ends()));
    const custom = { type: 'custom', kind: 'acme.thing', providerOptions: MARK('c') };
    const file = { type: 'file', mediaType: 'image/png' };
    const url = new URL('https://acme.test/a.png');
    expect((await sentOf(answer.parts)).content).toEqual([
      custom,
      { ...file, data: { type: 'data', data: 'aGk=' } },
      { ...file, data: { type: 'url', url } },
    ]);
    const older = new MockLanguageModelV3({
      provider: 'acme.chat',
      doStream: () =>
        Promise.resolve({
          stream: streamOf([{ ...file, data: 'aGk=' } as never, ends()]) as never,
        }),
    });
    const sent = await sentOf(answer.parts, older);
    expect(sent.content).toEqual([custom, { ...file, data: 'aGk=' }, { ...file, data: url }]);
    const again = await ask(older);
    expect(again.parts).toEqual(answer.parts.slice(1, 2));
  });

  it('and is large lies in a blob; without a place for it, it is not kept', async () => {
    const data = { type: 'data' as const, data: 'A'.repeat(8_000) };
    const drawing = (): ReturnType<typeof streaming> =>
      streaming(...says('Here.'), { type: 'file', mediaType: 'image/png', data }, ends());
    const stored = new Map<string, Uint8Array>();
    const files = {
      read: ({ id }: { readonly id: string }) => Promise.resolve(stored.get(id)),
      write: (content: Uint8Array) => {
        stored.set('b1', content);
        return Promise.resolve({ id: 'b1' } as never);
      },
    };
    const answer = await ask(drawing(), {}, {}, files);
    expect(JSON.stringify(answer.parts).length).toBeLessThan(300);
    const before: Message = {
      ...{ role: 'assistant', id: 'a', turnId: 't', step: 1, parts: answer.parts },
    };
    const next = streaming(...says('ok'), ends());
    await ask(next, { messages: [before] }, {}, files);
    expect(next.doStreamCalls[0]?.prompt[0]?.content[1]).toEqual({
      ...{ type: 'file', mediaType: 'image/png', data },
    });
    expect((await ask(drawing())).parts).toEqual([{ type: 'text', text: 'Here.' }]);
  });
});

describe('a tool that the provider runs', () => {
  const hosted = { providerExecuted: true };
  const result = (toolCallId: string, output: string | object, isError?: boolean): Part => ({
    type: 'tool-result',
    toolCallId,
    toolName: 'web_search',
    result: output as string,
    ...(isError === undefined ? {} : { isError }),
  });

  it('is reported when it begins, and shown with its result', async () => {
    const answer = await ask(
      streaming(
        { type: 'tool-input-start', id: 's1', toolName: 'web_search', ...hosted },
        { type: 'tool-input-delta', id: 's1', delta: '{"q"' },
        call('s1', '{"q":"tea"}', { toolName: 'web_search', ...hosted }),
        { ...result('s1', { preview: true }), preliminary: true } as Part,
        result('s1', { pages: 2 }),
        call('s2', '{"q":"milk"}', { toolName: 'web_search', ...hosted }),
        result('s2', 'quota is used up', true),
        ...says('Done.'),
        ends(),
      ),
    );
    expect(answer.calls).toEqual([]);
    expect(answer.providerCalls).toEqual([
      { id: 's1', name: 'web_search', input: { q: 'tea' }, outcome: { output: { pages: 2 } } },
      {
        id: 's2',
        name: 'web_search',
        input: { q: 'milk' },
        outcome: { error: 'quota is used up' },
      },
    ]);
    const begun = answer.events.flatMap((event) =>
      event.type === 'provider_call' ? [event.id] : [],
    );
    expect(begun).toEqual(['s1', 's2']);
    expect((await sentOf(answer.parts)).content).toMatchObject([
      { type: 'tool-call', toolCallId: 's1', input: { q: 'tea' }, providerExecuted: true },
      { type: 'tool-result', toolCallId: 's1', output: { type: 'json', value: { pages: 2 } } },
      { type: 'tool-call', toolCallId: 's2' },
      { type: 'tool-result', output: { type: 'error-json', value: 'quota is used up' } },
      { type: 'text', text: 'Done.' },
    ]);
  });

  it('and that answers one request later is shown with its arguments', async () => {
    const first = await ask(
      streaming(call('s1', '{"q":"tea"}', { toolName: 'web_search', ...hosted }), ends()),
    );
    expect(first.providerCalls).toBeUndefined();
    const before: Message = {
      ...{ role: 'assistant', id: 'a', turnId: 't', step: 1, parts: first.parts },
    };
    const second = await ask(streaming(result('s1', 'two pages'), ...says('Done.'), ends()), {
      messages: [...REQUEST.messages, before],
    });
    expect(second.providerCalls).toEqual([
      { id: 's1', name: 'web_search', input: { q: 'tea' }, outcome: { output: 'two pages' } },
    ]);
  });

  it('is configured by its id in the AI SDK and its arguments', async () => {
    const languageModel = streaming(...says('ok'), ends());
    const provider = { type: 'anthropic.web_search_20250305', maxUses: 3 };
    await ask(languageModel, { tools: [{ name: 'web.search', provider }] });
    expect(languageModel.doStreamCalls[0]?.tools).toEqual([
      {
        ...{ type: 'provider', id: 'anthropic.web_search_20250305', name: 'web__search' },
        args: { maxUses: 3 },
      },
    ]);
    const model = aiSdkModel(languageModel);
    expect(model.providerToolProblem?.({ type: 'web_search' })).toContain('"<provider>.<tool>"');
  });
});
