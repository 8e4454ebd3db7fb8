/** Marks for the prompt cache of Anthropic, as its package sends them. */
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { beforeEach, describe, expect, it } from 'vitest';
import { aiSdkModel } from '../../../../src/model/ai-sdk/adapter.js';
import type { Message } from '../../../../src/protocol/conversation/messages.js';
import type { Model } from '../../../../src/protocol/model/model.js';
import { mockFor } from '../../../support/fakes/model-mock.js';
import { promise } from '../../../support/promise.js';

const KEY = 'test-0123456789';
const WEATHER = { name: 'weather.lookup', description: 'Weather', inputSchema: { type: 'object' } };

/** Bodies of the requests of the test, oldest first, as they were sent. */
const bodies: string[] = [];
beforeEach(() => {
  bodies.length = 0;
});

const recording: typeof fetch = (input, init) => {
  if (typeof init?.body === 'string') bodies.push(init.body);
  return fetch(input, init);
};

describe('the prompt cache of Anthropic', () => {
  const MARK = { type: 'ephemeral' };
  const said = (index: number, role: 'user' | 'assistant', text: string): Message =>
    role === 'user'
      ? { role, id: `m${index}`, turnId: `t${index}`, parts: [{ type: 'text', text }] }
      : { role, id: `m${index}`, turnId: `t${index}`, step: 1, parts: [{ type: 'text', text }] };
  const TALK = [
    said(1, 'user', 'one'),
    said(2, 'assistant', 'two'),
    said(3, 'user', 'three'),
    said(4, 'assistant', 'four'),
    said(5, 'user', 'five'),
    said(6, 'user', 'for this call alone'),
  ];

  interface Body {
    readonly system: readonly { readonly cache_control?: unknown }[];
    readonly messages: readonly {
      readonly content: readonly { readonly text?: string; readonly cache_control?: unknown }[];
    }[];
  }

  async function sent(
    options: Parameters<typeof aiSdkModel>[1],
    request: Partial<Parameters<Model['generate']>[0]>,
  ): Promise<Body> {
    const mock = await mockFor({ content: 'Yes.' });
    const anthropic = createAnthropic({ baseURL: `${mock.url}/v1`, apiKey: KEY, fetch: recording });
    await aiSdkModel(anthropic('claude-test'), options).generate(
      { system: 'Be brief.', messages: TALK, tools: [WEATHER], ...request },
      { signal: new AbortController().signal, onEvent: () => undefined },
    );
    return JSON.parse(bodies.at(-1) ?? '') as Body;
  }

  const marked = ({ messages }: Body): readonly unknown[] =>
    messages.flatMap(({ content }) =>
      content.flatMap(({ text, cache_control }) => (cache_control === undefined ? [] : [text])),
    );

  it('is marked behind system prompt and tools, where the stable beginning ends, and where the call before has ended', {
    ...promise('G173'),
  }, async () => {
    const warnings: string[] = [];
    const onWarning = (text: string): void => {
      warnings.push(text);
    };
    const body = await sent({ onWarning }, { stableMessages: 5 });
    expect(body.system).toMatchObject([{ cache_control: MARK }]);
    expect(marked(body)).toEqual(['three', 'five']);
    const first = await sent({ onWarning }, { messages: TALK.slice(0, 1), stableMessages: 1 });
    expect(marked(first)).toEqual(['one']);
    expect(warnings.filter((text) => /cache/i.test(text))).toEqual([]);
  });

  it('is marked behind the results of a step', async () => {
    const at = { turnId: 't1', step: 1 };
    const named = ['c1', 'c2'].map((toolCallId) => ({ toolCallId, name: 'weather.lookup' }));
    const step: readonly Message[] = [
      {
        ...{ role: 'assistant', id: 'a1', ...at },
        parts: named.map((call) => ({ type: 'tool_call', ...call, argumentsJson: '{}' })),
      },
      {
        ...{ role: 'tool', id: 'r1', ...at },
        parts: named.map((call) => ({
          type: 'tool_result',
          ...call,
          envelope: { ok: true as const, result: 18 },
        })),
      },
    ];
    const asked = [...TALK.slice(0, 1), ...step];
    const { messages } = await sent({}, { messages: asked, stableMessages: 3 });
    expect(messages.at(-1)?.content).toMatchObject([{}, { cache_control: MARK }]);
    expect(messages.at(-1)?.content[0]).not.toHaveProperty('cache_control');
  });

  it('is not marked where the stable part is unknown, nor where the application says otherwise', async () => {
    expect(marked(await sent({}, {}))).toEqual([]);
    const off = await sent({ promptCache: false }, { stableMessages: 5 });
    expect(JSON.stringify(off)).not.toContain('cache_control');
    const cacheControl = { type: 'ephemeral', ttl: '1h' };
    const own = { settings: { providerOptions: { anthropic: { cacheControl } } } };
    const body = await sent(own, { stableMessages: 5 });
    expect(marked(body)).toEqual([]);
    expect(body).toMatchObject({ cache_control: cacheControl });
  });

  it('is not marked for other providers', async () => {
    const mock = await mockFor({ content: 'Yes.' });
    const openai = createOpenAI({ baseURL: `${mock.url}/v1`, apiKey: KEY, fetch: recording });
    await aiSdkModel(openai.responses('gpt-test')).generate(
      { system: 'Be brief.', messages: TALK, tools: [], stableMessages: 5 },
      { signal: new AbortController().signal, onEvent: () => undefined },
    );
    expect(bodies.at(-1)).not.toMatch(/cache_?control/i);
  });
});
