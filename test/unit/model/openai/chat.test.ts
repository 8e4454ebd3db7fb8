import { describe, expect, it } from 'vitest';
import { toChatRequest } from '../../../../src/model/openai/chat.js';
import type { AssistantPart, Message } from '../../../../src/protocol/conversation/messages.js';
import { promise } from '../../../support/promise.js';

const AT = { id: 'm', turnId: 't1', step: 1 };
const SETTINGS = { model: 'm-1' };

function user(text: string): Message {
  return { role: 'user', id: 'u', turnId: 't1', parts: [{ type: 'text', text }] };
}

function assistant(
  parts: readonly AssistantPart[],
  flags: { readonly partial?: true } = {},
): Message {
  return { role: 'assistant', ...AT, ...flags, parts };
}

function call(name: string, argumentsJson: string): AssistantPart {
  return { type: 'tool_call', toolCallId: 'c1', name, argumentsJson };
}

function sent(...messages: readonly Message[]): unknown {
  return toChatRequest({ system: '', messages, tools: [] }, SETTINGS).messages;
}

describe('a request to the provider', () => {
  it('carries the conversation: instructions, messages, calls to the letter, results as envelopes', {
    ...promise('A57', 'H6', 'C12', 'C35', 'X8'),
  }, () => {
    const envelope = { ok: true as const, result: { hits: 2 } };
    const body = toChatRequest(
      {
        system: 'Be brief.',
        messages: [
          user('Find it'),
          assistant([{ type: 'text', text: 'Looking.' }, call('notes.search', '{ "q" : "it" }')]),
          {
            role: 'tool',
            ...AT,
            parts: [{ type: 'tool_result', toolCallId: 'c1', name: 'notes.search', envelope }],
          },
        ],
        tools: [{ name: 'notes.search', description: 'Searches', inputSchema: { type: 'object' } }],
      },
      { ...SETTINGS, temperature: 0, maxOutputTokens: 100 },
    );
    expect(body).toEqual({
      model: 'm-1',
      stream: true,
      stream_options: { include_usage: true },
      temperature: 0,
      max_completion_tokens: 100,
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Find it' },
        {
          role: 'assistant',
          content: 'Looking.',
          tool_calls: [
            {
              id: 'c1',
              type: 'function',
              function: { name: 'notes__search', arguments: '{ "q" : "it" }' },
            },
          ],
        },
        { role: 'tool', tool_call_id: 'c1', content: '{"ok":true,"result":{"hits":2}}' },
      ],
      tools: [
        {
          type: 'function',
          function: {
            name: 'notes__search',
            description: 'Searches',
            parameters: { type: 'object' },
          },
        },
      ],
    });
  });

  it('has no list of tools, no instructions and no settings where there are none', () => {
    expect(toChatRequest({ system: '', messages: [user('Hi')], tools: [] }, SETTINGS)).toEqual({
      model: 'm-1',
      stream: true,
      stream_options: { include_usage: true },
      messages: [{ role: 'user', content: 'Hi' }],
    });
  });

  it('omits thoughts and items of another provider', () => {
    expect(
      sent(
        assistant([
          { type: 'reasoning', text: 'Hm' },
          { type: 'provider_item', provider: 'openai-responses', item: { type: 'reasoning' } },
          { type: 'text', text: 'Hi' },
        ]),
      ),
    ).toEqual([{ role: 'assistant', content: 'Hi' }]);
  });

  it('carries half an answer as it is, and nothing at all of an empty one', () => {
    expect(sent(assistant([{ type: 'text', text: 'Half an' }], { partial: true }))).toEqual([
      { role: 'assistant', content: 'Half an' },
    ]);
    expect(sent(assistant([], { partial: true }))).toEqual([]);
    expect(sent(assistant([{ type: 'reasoning', text: 'Hm' }], { partial: true }))).toEqual([]);
  });

  it('stays acceptable after the model has asked for an impossible tool with broken arguments', () => {
    const echoed = (name: string, argumentsJson: string): unknown =>
      (sent(assistant([call(name, argumentsJson)])) as { tool_calls: { function: unknown }[] }[])[0]
        ?.tool_calls[0]?.function;
    expect(echoed('do it, now!', '{"a":')).toEqual({
      name: 'do_it__now_',
      arguments: '{"invalid_arguments":"{\\"a\\":"}',
    });
    expect(echoed('', '"text"')).toEqual({
      name: 'unknown',
      arguments: '{"invalid_arguments":"\\"text\\""}',
    });
    expect(echoed('x'.repeat(100), '{}')).toEqual({ name: 'x'.repeat(64), arguments: '{}' });
  });

  it('is not made with a tool that the provider would have to run', () => {
    const tools = [{ name: 'web.search', provider: { type: 'web_search' } }];
    expect(() => toChatRequest({ system: '', messages: [], tools }, SETTINGS)).toThrow(
      expect.objectContaining({ code: 'model_bad_request', retryable: false }) as Error,
    );
  });
});
