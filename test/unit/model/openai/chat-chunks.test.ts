import type OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import { ChatAnswer } from '../../../../src/model/openai/chat-chunks.js';
import { ModelFailure } from '../../../../src/model/shared/failure.js';
import type { ModelResponse, ModelStreamEvent } from '../../../../src/protocol/model/model.js';

const TOOLS = ['notes.search', 'go', 'gogo'].map((name) => ({
  name,
  description: name,
  inputSchema: {},
}));

interface Read {
  readonly response: ModelResponse;
  readonly events: readonly ModelStreamEvent[];
}

/** Reads chunks as a server might send them, against their types. */
function read(chunks: readonly object[]): Read {
  const events: ModelStreamEvent[] = [];
  const answer = new ChatAnswer(TOOLS, { onEvent: (event) => events.push(event) });
  for (const chunk of chunks) answer.add(chunk as OpenAI.ChatCompletionChunk);
  return { response: answer.finish('asked-for'), events };
}

function delta(fields: object): object {
  return { model: 'm-1', choices: [{ index: 0, delta: fields, finish_reason: null }] };
}

function callDelta(...calls: readonly object[]): object {
  return delta({ tool_calls: calls });
}

function finish(reason = 'stop'): object {
  return { model: 'm-1', choices: [{ index: 0, delta: {}, finish_reason: reason }] };
}

const USAGE = { model: 'm-1', choices: [], usage: { prompt_tokens: 7, completion_tokens: 3 } };

function failureCode(chunks: readonly object[]): string {
  try {
    read(chunks);
  } catch (error) {
    if (error instanceof ModelFailure) return error.code;
  }
  return 'none';
}

describe('the text of a streamed answer', () => {
  it('is joined from its pieces, with thoughts and refusals in their order', () => {
    const { response, events } = read([
      delta({ role: 'assistant', content: '' }),
      delta({ reasoning_content: 'Hm' }),
      delta({ reasoning_content: ', yes' }),
      delta({ content: 'I ' }),
      delta({ content: 'can' }),
      delta({ refusal: 'not' }),
      finish(),
    ]);
    expect(response.parts).toEqual([
      { type: 'reasoning', text: 'Hm, yes' },
      { type: 'text', text: 'I cannot' },
    ]);
    expect(events.map((event) => 'text' in event && event.text)).toEqual([
      'Hm',
      ', yes',
      'I ',
      'can',
      'not',
    ]);
  });

  it('survives chunks without choices, delta or content', () => {
    const { response } = read([
      {},
      { choices: [] },
      { choices: [{ index: 0 }] },
      delta({ content: null, tool_calls: null }),
      delta({ content: 'Hi' }),
      { choices: [{ index: 0, delta: null, finish_reason: 'stop' }] },
    ]);
    expect(response).toMatchObject({ parts: [{ type: 'text', text: 'Hi' }], model: 'm-1' });
  });
});

describe('the calls of a streamed answer', () => {
  const calls = (...chunks: readonly object[]): ModelResponse['calls'] =>
    read([...chunks, finish('tool_calls')]).response.calls;

  it('are put together from pieces that arrive mixed', () => {
    expect(
      calls(
        callDelta({ index: 0, id: 'a', function: { name: 'notes__search', arguments: '' } }),
        callDelta({ index: 1, id: 'b', function: { name: 'go', arguments: '{"x"' } }),
        callDelta({ index: 0, function: { arguments: '{"q":' } }),
        callDelta(
          { index: 1, function: { arguments: ':1}' } },
          { index: 0, function: { arguments: '2}' } },
        ),
      ),
    ).toEqual([
      { id: 'a', name: 'notes.search', argumentsJson: '{"q":2}' },
      { id: 'b', name: 'go', argumentsJson: '{"x":1}' },
    ]);
  });

  it('may get their id late, empty or again and again', () => {
    expect(
      calls(
        callDelta({ index: 0, id: '', function: { name: 'go', arguments: '{' } }),
        callDelta({ index: 0, id: 'late', function: { arguments: '}' } }),
        callDelta({ index: 1, id: 'same', function: { name: 'go', arguments: '{' } }),
        callDelta({ index: 1, id: 'same', function: { arguments: '}' } }),
        callDelta({ index: 2, function: { name: 'go', arguments: '{}' } }),
      ).map(({ id, argumentsJson }) => [id, argumentsJson]),
    ).toEqual([
      ['late', '{}'],
      ['same', '{}'],
      ['', '{}'],
    ]);
  });

  it('may get their name in pieces, or whole with every piece', () => {
    const name = (...names: readonly string[]): string | undefined =>
      calls(...names.map((piece) => callDelta({ index: 0, function: { name: piece } })))[0]?.name;
    expect(name('notes', '__', 'search')).toBe('notes.search');
    expect(name('notes__search', 'notes__search')).toBe('notes.search');
    expect(name('go', 'go')).toBe('gogo');
    expect(name('gogo', 'gogo')).toBe('gogo');
  });

  it('are kept apart by their ids where a server gives them all one index, or none', () => {
    const whole = (id: string, index?: number): object =>
      callDelta({ index, id, function: { name: 'go', arguments: `{"id":"${id}"}` } });
    for (const chunks of [
      [whole('a', 0), whole('b', 0)],
      [whole('a'), whole('b')],
    ])
      expect(calls(...chunks).map(({ argumentsJson }) => argumentsJson)).toEqual([
        '{"id":"a"}',
        '{"id":"b"}',
      ]);
  });

  it('have an empty object for arguments when none were sent', () => {
    expect(
      calls(callDelta({ index: 0, id: 'a', function: { name: 'go' } }))[0]?.argumentsJson,
    ).toBe('{}');
  });

  it('are returned as they are when the length limit cut them', () => {
    const half = callDelta({ index: 0, id: 'a', function: { name: 'go', arguments: '{"a":"b' } });
    expect(read([half, finish('length')]).response).toMatchObject({
      finishReason: 'length',
      calls: [{ id: 'a', name: 'go', argumentsJson: '{"a":"b' }],
    });
  });

  it('are streamed with their own names', () => {
    const { events } = read([
      callDelta({ index: 0, id: 'a', function: { name: 'notes__search', arguments: '' } }),
      callDelta({ index: 0, function: { arguments: '{}' } }),
      finish('tool_calls'),
    ]);
    expect(events).toEqual([
      { type: 'tool_arguments', index: 0, name: 'notes.search', id: 'a', text: '' },
      { type: 'tool_arguments', index: 0, text: '{}' },
    ]);
  });
});

describe('the usage of a streamed answer', () => {
  it('has cached and reasoning tokens when they are sent', () => {
    const usage = {
      prompt_tokens: 70,
      completion_tokens: 30,
      prompt_tokens_details: { cached_tokens: 64 },
      completion_tokens_details: { reasoning_tokens: 12 },
    };
    const { response } = read([delta({ content: 'Hi' }), finish(), { ...USAGE, usage }]);
    expect(response.usage).toEqual({
      inputTokens: 70,
      outputTokens: 30,
      cachedInputTokens: 64,
      reasoningTokens: 12,
    });
  });

  it('is zero when the server sends none', () => {
    const { response } = read([delta({ content: 'Hi' }), finish()]);
    expect(response.usage).toEqual({ inputTokens: 0, outputTokens: 0 });
  });
});

describe('a stream that ends', () => {
  it('without an end to its answer is broken, and so is one without a beginning', () => {
    expect(failureCode([])).toBe('model_stream_broken');
    expect(failureCode([delta({ role: 'assistant' })])).toBe('model_stream_broken');
    expect(failureCode([delta({ content: 'Half an ans' })])).toBe('model_stream_broken');
    const half = callDelta({ index: 0, id: 'a', function: { name: 'go', arguments: '{"a' } });
    expect(failureCode([half])).toBe('model_stream_broken');
  });

  it('with usage but no finish reason is whole: some servers send none', () => {
    expect(read([delta({ content: 'Hi' }), USAGE]).response.finishReason).toBe('stop');
    const call = callDelta({ index: 0, id: 'a', function: { name: 'go', arguments: '{}' } });
    expect(read([call, USAGE]).response.finishReason).toBe('tool_calls');
  });

  it('because of a content filter is a failure that is not retried', () => {
    expect(failureCode([delta({ content: 'Half' }), finish('content_filter')])).toBe(
      'model_content_filtered',
    );
  });
});
