/** `aiSdkModel` against streams part by part: behaviour of providers that no server at hand shows. */
import { MockLanguageModelV4 } from 'ai/test';
import { describe, expect, it } from 'vitest';
import { type AiSdkLanguageModel, aiSdkModel } from '../../../../src/model/ai-sdk/adapter.js';
import type { Message, UserPart } from '../../../../src/protocol/conversation/messages.js';
import {
  ask,
  asked,
  call,
  ends,
  failure,
  type Part,
  REQUEST,
  says,
  streaming,
} from '../../../support/fakes/language-models.js';

describe('an answer', () => {
  it('has its usage, cached and reasoning tokens too, and the model as its provider names it', async () => {
    const answer = await ask(
      streaming({ type: 'response-metadata', modelId: 'acme-1-2026' }, ...says('Hi'), ends()),
    );
    expect(answer).toMatchObject({
      model: 'acme-1-2026',
      finishReason: 'stop',
      usage: { inputTokens: 30, outputTokens: 9, cachedInputTokens: 20, reasoningTokens: 5 },
    });
  });

  it.each([
    ['stop', undefined, 'stop'],
    ['length', 'max_tokens', 'length'],
    ['tool-calls', undefined, 'tool_calls'],
    ['other', 'compaction', 'compaction'],
    ['other', undefined, 'other'],
  ] as const)('that ends by %s (%s) says %s', async (unified, raw, said) => {
    const answer = await ask(streaming(...says('Hi'), ends(unified, raw)));
    expect(answer.finishReason).toBe(said);
  });

  it('that asks for calls says so, also where its provider has its own word for that', async () => {
    const answer = await ask(streaming(call('c1'), ends('other', 'FUNCTION_CALL')));
    expect(answer).toMatchObject({ finishReason: 'tool_calls', calls: [{ id: 'c1' }] });
  });

  it.each([
    ['content-filter', 'model_content_filtered', false],
    ['error', 'model_stream_broken', true],
    ['interrupted', 'model_stream_broken', true],
  ] as const)('that ends by %s is a failure', async (unified, code, retryable) => {
    const failed = await failure(ask(streaming(...says('Half a sen'), ends(unified))));
    expect(failed).toMatchObject({ code, retryable });
  });

  it('without an end is a broken stream', async () => {
    expect(await failure(ask(streaming(...says('Half a sen'))))).toMatchObject({
      code: 'model_stream_broken',
    });
  });

  it('that the length limit cut in the arguments of a call has them as they came', async () => {
    const answer = await ask(
      streaming(
        { type: 'tool-input-start', id: 'c1', toolName: 'cart__read' },
        { type: 'tool-input-delta', id: 'c1', delta: '{"half":' },
        ends('length'),
      ),
    );
    expect(answer).toMatchObject({
      finishReason: 'length',
      calls: [{ id: 'c1', name: 'cart.read', argumentsJson: '{"half":' }],
    });
  });

  it('with calls that come whole, or twice by one id, has them all in order', async () => {
    const answer = await ask(streaming(call('c', '{"a":1}'), call('c', ''), ends('tool-calls')));
    expect(answer.calls).toEqual([
      { id: 'c', name: 'cart.read', argumentsJson: '{"a":1}' },
      { id: 'c', name: 'cart.read', argumentsJson: '{}' },
    ]);
    expect(answer.events).toContainEqual({ type: 'tool_arguments', index: 0, text: '{"a":1}' });
  });

  it('of a model that declines is an answer, and says so', async () => {
    const answer = await ask(
      streaming(...says('I would rather not.'), ends('content-filter', 'refusal')),
    );
    expect(answer).toMatchObject({
      finishReason: 'refusal',
      parts: [{ text: 'I would rather not.' }],
    });
    const silent = await failure(ask(streaming(ends('content-filter', 'refusal'))));
    expect(silent.code).toBe('model_content_filtered');
  });

  it('names the sources of its text', async () => {
    const source = { type: 'source' as const, sourceType: 'url' as const, id: 's' };
    const citations = [
      { source: { ...source, url: 'https://acme.test/a', title: 'A' }, startIndex: 0, endIndex: 2 },
    ];
    const answer = await ask(
      streaming(
        { type: 'text-start', id: '0' },
        { type: 'text-delta', id: '0', delta: 'So.' },
        { type: 'text-end', id: '0', citations },
        ends(),
      ),
    );
    expect(answer.parts).toEqual([
      {
        ...{ type: 'text', text: 'So.' },
        sources: [
          { type: 'url', url: 'https://acme.test/a', title: 'A', startIndex: 0, endIndex: 2 },
        ],
      },
    ]);
  });

  it("that waits for an approval of a provider's call fails, and says what to do", async () => {
    const request = { type: 'tool-approval-request' as const, approvalId: 'x', toolCallId: 'c' };
    const failed = await failure(ask(streaming(request, ends())));
    expect(failed).toMatchObject({ code: 'model_bad_request', retryable: false });
    expect(failed.message).toContain('approval');
  });

  it.each([
    [{ type: 'overloaded_error', message: 'Busy' }, 'model_stream_broken', true],
    [{ message: 'Busy', statusCode: 529 }, 'model_unavailable', true],
    [{ message: 'Slow', type: 'rate_limit_error' }, 'model_rate_limited', true],
    [{ message: 'No', type: 'invalid_request_error' }, 'model_bad_request', false],
    ['something went wrong', 'model_stream_broken', true],
    [new TypeError('terminated'), 'model_stream_broken', true],
  ])('with the error %j in its stream is a failure', async (error, code, retryable) => {
    const answer = ask(streaming(...says('Half a sen'), { type: 'error', error }));
    expect(await failure(answer)).toMatchObject({ code, retryable });
  });
});

describe('a request', () => {
  const tools = [{ name: 'cart.read', description: 'Read', inputSchema: { type: 'object' } }];

  it('carries settings, and calls that no provider would accept in an acceptable form', async () => {
    const languageModel = streaming(...says('ok'), ends());
    const settings = { temperature: 0.2, maxOutputTokens: 99, headers: { 'x-team': 'a' } };
    const results = ['c1', 'c2'].map((toolCallId) => ({
      type: 'tool_result' as const,
      toolCallId,
      name: 'cart.read',
      envelope: { ok: false as const, error: { code: 'timeout' as const, message: 'slow' } },
    }));
    const messages: readonly Message[] = [
      { role: 'assistant', id: 'e', turnId: 't', step: 1, parts: [] },
      {
        ...{ role: 'assistant', id: 'a', turnId: 't', step: 1 },
        parts: [asked('c1', '{"half":'), asked('c2', '[]', 'no such tool!')],
      },
      { role: 'tool', id: 'r', turnId: 't', step: 1, parts: results },
    ];
    await ask(languageModel, { system: 'Be brief.', messages, tools }, { settings });
    const value = { ok: false, error: { code: 'timeout', message: 'slow' } };
    expect(languageModel.doStreamCalls[0]).toMatchObject({
      ...settings,
      tools: [{ type: 'function', name: 'cart__read', inputSchema: { type: 'object' } }],
      toolChoice: { type: 'auto' },
      prompt: [
        { role: 'system', content: 'Be brief.' },
        {
          role: 'assistant',
          content: [
            { toolCallId: 'c1', input: { invalid_arguments: '{"half":' } },
            { toolCallId: 'c2', toolName: 'no_such_tool_', input: { invalid_arguments: '[]' } },
          ],
        },
        {
          role: 'tool',
          content: [{ output: { type: 'error-json', value } }, { toolCallId: 'c2' }],
        },
      ],
    });
  });

  it.each([
    ['required' as const, { type: 'required' }],
    ['none' as const, { type: 'none' }],
    [{ name: 'cart.read' }, { type: 'tool', toolName: 'cart__read' }],
  ])('sends the tool choice: %j', async (toolChoice, sent) => {
    const languageModel = streaming(...says('ok'), ends());
    await ask(languageModel, { tools }, { toolChoice });
    expect(languageModel.doStreamCalls[0]?.toolChoice).toEqual(sent);
  });

  it('asks for an answer of a form, and marks the tools that are fit for strict mode', async () => {
    const languageModel = streaming(...says('{}'), ends());
    const output = { name: 'verdict', schema: { type: 'object' }, strict: true };
    await ask(languageModel, { output, tools: tools.map((tool) => ({ ...tool, strict: true })) });
    expect(languageModel.doStreamCalls[0]).toMatchObject({
      responseFormat: { type: 'json', name: 'verdict', schema: { type: 'object' } },
      tools: [{ name: 'cart__read', strict: true }],
    });
  });

  it('carries images and files: by address, by the id at the provider, or with their bytes; lost ones are named', async () => {
    const languageModel = streaming(...says('ok'), ends());
    const blob = { id: 'b1', bytes: 2 } as never;
    const gone = { id: 'b2', bytes: 2 } as never;
    const parts: UserPart[] = [
      { type: 'text', text: 'See' },
      { type: 'image', source: { url: 'https://acme.test/a.png' } },
      { type: 'file', source: { fileId: 'f1' }, mediaType: 'application/pdf', filename: 'a.pdf' },
      { type: 'image', source: { blob }, mediaType: 'image/png' },
      { type: 'file', source: { blob: gone }, filename: 'b.pdf' },
    ];
    const messages: readonly Message[] = [{ role: 'user', id: 'u', turnId: 't', parts }];
    await ask(
      languageModel,
      { messages },
      {},
      {
        read: ({ id }) => Promise.resolve(id === 'b1' ? Buffer.from('hi') : undefined),
        write: () => Promise.resolve(undefined),
      },
    );
    expect(languageModel.doStreamCalls[0]?.prompt[0]?.content).toMatchObject([
      { type: 'text', text: 'See' },
      {
        type: 'file',
        mediaType: 'image/*',
        data: { type: 'url', url: new URL('https://acme.test/a.png') },
      },
      { filename: 'a.pdf', data: { type: 'reference', reference: { acme: 'f1' } } },
      { mediaType: 'image/png', data: { type: 'data', data: 'aGk=' } },
      { type: 'text', text: expect.stringContaining('b.pdf') as string },
    ]);
  });

  it('shows the images that a tool shows, beside its result', async () => {
    const languageModel = streaming(...says('ok'), ends());
    const source = { url: 'https://acme.test/a.png' };
    const envelope = { ok: true as const, result: 1, files: [{ type: 'image' as const, source }] };
    const result = { type: 'tool_result' as const, toolCallId: 'c1', name: 'draw', envelope };
    const message: Message = { role: 'tool', id: 'r', turnId: 't', step: 1, parts: [result] };
    await ask(languageModel, { messages: [message] });
    const output = {
      type: 'content',
      value: [
        { type: 'text', text: '{"ok":true,"result":1}' },
        { type: 'file', data: { type: 'url', url: new URL(source.url) } },
      ],
    };
    expect(languageModel.doStreamCalls[0]?.prompt[0]?.content).toMatchObject([{ output }]);
  });

  it('reports the settings that the provider ignored', async () => {
    const warnings: string[] = [];
    const languageModel = streaming(
      { type: 'stream-start', warnings: [{ type: 'unsupported', feature: 'seed' }] },
      ...says('ok'),
      ends(),
    );
    await ask(languageModel, {}, { onWarning: (text) => warnings.push(text) });
    expect(warnings).toEqual(['unsupported: seed']);
  });

  it('ends by a stop even when the package of the provider ignores it', async () => {
    let cancelled = 0;
    const deaf = new MockLanguageModelV4({
      doStream: () =>
        Promise.resolve({
          stream: new ReadableStream<Part>({
            cancel: () => {
              cancelled += 1;
            },
          }),
        }),
    });
    const stop = new AbortController();
    const answer = aiSdkModel(deaf).generate(REQUEST, {
      signal: stop.signal,
      onEvent: () => undefined,
    });
    stop.abort(new Error('stopped by the user'));
    await expect(answer).rejects.toThrow('stopped by the user');
    expect(cancelled).toBe(1);
  });

  it('without any response is given up after the longest silence that is allowed', async () => {
    const silent = new MockLanguageModelV4({
      doStream: () => Promise.resolve({ stream: new ReadableStream<Part>() }),
    });
    const failed = await failure(ask(silent, {}, { requestTimeoutMs: 30 }));
    expect(failed).toMatchObject({ code: 'model_unavailable', retryable: true });
    expect(failed.message).toContain('30 ms');
  });
});

describe('a value that is no model', () => {
  it.each([
    ['acme/one', /name; give the model object/],
    [undefined, /must be one of an AI SDK provider package/],
    [{ specificationVersion: 'v2', doStream: () => undefined }, /"v2"; v3 and v4 are known/],
  ])('%j is refused with the reason', (value, message) => {
    expect(() => aiSdkModel(value as unknown as AiSdkLanguageModel)).toThrow(message);
  });
});
