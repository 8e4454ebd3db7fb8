/** The part of a conversation that goes to the Responses API, and the part of its answers that comes back to it. */
import { describe, expect, it } from 'vitest';
import { ResponsesAnswer } from '../../../../src/model/openai/response-events.js';
import { toResponsesRequest } from '../../../../src/model/openai/responses.js';
import type { ToolResultEnvelope } from '../../../../src/protocol/calls/results.js';
import type { AssistantPart, Message } from '../../../../src/protocol/conversation/messages.js';
import type { ModelResponse, ModelTool } from '../../../../src/protocol/model/model.js';
import { promise } from '../../../support/promise.js';
import { eventsOf, message, thought } from '../../../support/samples/wire-events.js';

type Items = Parameters<typeof eventsOf>[0];

const AT = { id: 'm', turnId: 't1', step: 1 };
const SEARCH: ModelTool = { name: 'web.search', provider: { type: 'web_search' } };

function user(text: string): Message {
  return { role: 'user', id: 'u', turnId: 't1', parts: [{ type: 'text', text }] };
}

function assistant(parts: readonly AssistantPart[]): Message {
  return { role: 'assistant', ...AT, parts };
}

function results(
  ...given: readonly (readonly [id: string, envelope: ToolResultEnvelope])[]
): Message {
  return {
    role: 'tool',
    ...AT,
    parts: given.map(([toolCallId, envelope]) => ({
      type: 'tool_result',
      toolCallId,
      name: 'notes.search',
      envelope,
    })),
  };
}

function sent(messages: readonly Message[], model = 'm-1'): unknown {
  return toResponsesRequest({ system: '', messages, tools: [] }, { model }).input;
}

/** `changes` are fields of every item, as compatible servers may send them. */
async function answered(items: Items, last = {}, changes = {}): Promise<ModelResponse> {
  const answer = new ResponsesAnswer([SEARCH], { onEvent: () => undefined });
  for (const event of eventsOf(items, last)) answer.add(changed(event, changes));
  return answer.finish('m-1', undefined);
}

function changed<Event extends ReturnType<typeof eventsOf>[number]>(
  event: Event,
  changes: object,
): Event {
  if ('item' in event) return { ...event, item: { ...event.item, ...changes } };
  if (!('response' in event)) return event;
  const output = event.response.output.map((item) => ({ ...item, ...changes }));
  return { ...event, response: { ...event.response, output } };
}

/** As the engine writes it into the transcript; `idOf` is where it may give another id. */
function kept(response: ModelResponse, idOf = (id: string): string => id): Message {
  const asked = response.calls.map(({ id, name, argumentsJson }) => ({
    type: 'tool_call' as const,
    toolCallId: idOf(id),
    name,
    argumentsJson,
  }));
  return assistant([...response.parts, ...asked]);
}

const OK: ToolResultEnvelope = { ok: true, result: { hits: 2 } };
const CALL = {
  type: 'function_call',
  id: 'fc_1',
  call_id: 'call_1',
  name: 'notes__search',
  arguments: '{ "q" : "it" }',
  status: 'completed',
} as const;
const COMMENT = {
  ...message('msg_1', [{ type: 'output_text', text: 'Let me look.', annotations: [] }]),
  phase: 'commentary',
} as const;

describe('a request to the Responses API', () => {
  it('carries everything itself, and has nothing stored', () => {
    const body = toResponsesRequest(
      {
        system: 'Be brief.',
        messages: [
          user('Find it'),
          assistant([
            { type: 'text', text: 'Looking.' },
            { type: 'tool_call', toolCallId: 'c1', name: 'notes.search', argumentsJson: '{"q":1}' },
          ]),
          results(['c1', OK]),
        ],
        tools: [
          { name: 'notes.search', description: 'Searches', inputSchema: { type: 'object' } },
          SEARCH,
        ],
      },
      { model: 'gpt-5.1', temperature: 0, maxOutputTokens: 100 },
    );
    expect(body).toEqual({
      model: 'gpt-5.1',
      stream: true,
      store: false,
      instructions: 'Be brief.',
      include: ['reasoning.encrypted_content', 'web_search_call.action.sources'],
      temperature: 0,
      max_output_tokens: 100,
      input: [
        { role: 'user', content: 'Find it' },
        { role: 'assistant', content: 'Looking.' },
        { type: 'function_call', call_id: 'c1', name: 'notes__search', arguments: '{"q":1}' },
        { type: 'function_call_output', call_id: 'c1', output: '{"ok":true,"result":{"hits":2}}' },
      ],
      tools: [
        {
          type: 'function',
          name: 'notes__search',
          description: 'Searches',
          parameters: { type: 'object' },
          strict: false,
        },
        { type: 'web_search' },
      ],
    });
  });

  it('asks for thoughts only of models that think', () => {
    const included = (model: string): unknown =>
      toResponsesRequest({ system: '', messages: [], tools: [] }, { model }).include;
    for (const model of ['o3', 'o4-mini', 'gpt-5', 'gpt-5.1', 'gpt-5-mini', 'gpt-6'])
      expect(included(model)).toEqual(['reasoning.encrypted_content']);
    for (const model of ['gpt-4o', 'gpt-4.1-mini', 'gpt-5-chat-latest', 'gpt-5.1-chat', 'qwen3'])
      expect(included(model)).toBeUndefined();
  });
});

describe('an answer of the provider', () => {
  it('goes back as it came, in its order: thoughts, words and calls, under its ids', {
    ...promise('G95'),
  }, async () => {
    const items = [
      thought('rs_1', 'Where might it be?'),
      COMMENT,
      thought('rs_2'),
      CALL,
      { ...CALL, id: 'fc_2', call_id: 'call_2' },
    ];
    const response = await answered(items);
    const { status: _status, ...call } = CALL;
    expect(sent([kept(response), results(['call_1', OK], ['call_2', OK])])).toEqual([
      thought('rs_1', 'Where might it be?'),
      COMMENT,
      thought('rs_2'),
      call,
      { ...call, id: 'fc_2', call_id: 'call_2' },
      expect.objectContaining({ type: 'function_call_output', call_id: 'call_1' }),
      expect.objectContaining({ type: 'function_call_output', call_id: 'call_2' }),
    ]);
  });

  it('is in the transcript once: texts and arguments are not kept a second time in its items', {
    ...promise('G95'),
  }, async () => {
    const text = 'A sentence that stands in the transcript once and only once.';
    const output = { type: 'output_text' as const, text, annotations: [] };
    const response = await answered([thought('rs_1', text), message('msg_1', [output]), CALL]);
    const transcript = JSON.stringify(kept(response));
    expect(transcript.split(text)).toHaveLength(3);
    expect(transcript.split('notes')).toHaveLength(2);
  });

  it("goes back under the engine's id where the engine had to replace a call's", async () => {
    const response = await answered([CALL]);
    const input = sent([kept(response, () => 'call_t1_1_1'), results(['call_t1_1_1', OK])]);
    expect(input).toMatchObject([
      { type: 'function_call', id: 'fc_1', call_id: 'call_t1_1_1' },
      { type: 'function_call_output', call_id: 'call_t1_1_1' },
    ]);
  });

  it('keeps the sources of a text, and gives them back', async () => {
    const annotations = [
      {
        type: 'url_citation',
        url: 'https://example.com/rain',
        title: 'Rain',
        start_index: 0,
        end_index: 4,
      },
      { type: 'file_citation', file_id: 'file_1', filename: 'a.pdf', index: 4 },
      {
        type: 'container_file_citation',
        container_id: 'cntr_1',
        file_id: 'cfile_1',
        filename: 'plot.png',
        start_index: 0,
        end_index: 2,
      },
    ] as const;
    const said = message('msg_1', [
      { type: 'output_text', text: 'Rain', annotations: [...annotations] },
    ]);
    const response = await answered([said]);
    expect(response.parts.at(-1)).toEqual({
      type: 'text',
      text: 'Rain',
      sources: [
        {
          type: 'url',
          url: 'https://example.com/rain',
          title: 'Rain',
          startIndex: 0,
          endIndex: 4,
        },
        { type: 'file', fileId: 'file_1', filename: 'a.pdf', startIndex: 4, endIndex: 4 },
        {
          type: 'file',
          fileId: 'cfile_1',
          filename: 'plot.png',
          containerId: 'cntr_1',
          startIndex: 0,
          endIndex: 2,
        },
      ],
    });
    expect(sent([kept(response)])).toEqual([said]);
  });

  it.each([
    [null, '{}'],
    [undefined, '{}'],
    [{ q: 'it' }, '{"q":"it"}'],
  ])('of a compatible server may have %j as arguments', async (given, argumentsJson) => {
    const response = await answered([{ ...CALL, arguments: '' }], {}, { arguments: given });
    expect(response.calls).toMatchObject([{ id: 'call_1', argumentsJson }]);
  });

  it('of a compatible server may have null as a text', async () => {
    const nothing = { type: 'output_text' as const, text: '', annotations: [] };
    const content = { content: [{ ...nothing, text: null }] };
    const response = await answered([message('msg_1', [nothing])], {}, content);
    expect(response.parts).not.toContainEqual(expect.objectContaining({ text: null }));
    const thoughts = { summary: [{ type: 'summary_text', text: null }] };
    const thinking = await answered([thought('rs_1')], {}, thoughts);
    expect(thinking.parts).not.toContainEqual(expect.objectContaining({ text: null }));
  });

  it('names fifty sources at most', async () => {
    const source = {
      type: 'file_citation',
      file_id: 'f',
      filename: 'x'.repeat(5_000),
      index: 0,
    } as const;
    const annotations = Array.from({ length: 80 }, () => source);
    const { parts } = await answered([
      message('msg_1', [{ type: 'output_text', text: 'Much', annotations }]),
    ]);
    const [text] = parts.filter((part) => part.type === 'text');
    expect(text?.sources).toHaveLength(50);
    expect(JSON.stringify(text).length).toBeLessThan(60_000);
  });

  it('has no thoughts without an outcome, and none that cannot be read again', async () => {
    const unread = { type: 'reasoning', id: 'rs_9', summary: [] } as const;
    const { parts } = await answered([{ ...unread, summary: [] }]);
    expect(parts).toEqual([]);
    const alone = await answered([CALL, thought('rs_1', 'And then?')], {
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
    });
    expect(sent([kept(alone), results(['call_1', OK])])).toMatchObject([
      { type: 'function_call' },
      { type: 'function_call_output' },
    ]);
  });

  it('of two messages is one text with a gap, and still two messages when it goes back', async () => {
    const final = message('msg_2', [{ type: 'output_text', text: 'Found.', annotations: [] }]);
    const pieces: string[] = [];
    const answer = new ResponsesAnswer([], {
      onEvent: (event) => {
        if (event.type === 'text') pieces.push(event.text);
      },
    });
    for (const event of eventsOf([COMMENT, final])) answer.add(event);
    const response = await answer.finish('m-1', undefined);
    const texts = response.parts.flatMap((part) => (part.type === 'text' ? [part.text] : []));
    expect(texts.join('')).toBe('Let me look.\n\nFound.');
    expect(pieces.join('')).toBe(texts.join(''));
    expect(sent([kept(response)])).toEqual([COMMENT, final]);
  });

  it('of a refusal goes back as one', async () => {
    const declined = message('msg_1', [{ type: 'refusal', refusal: 'No.' }]);
    expect(sent([kept(await answered([declined]))])).toEqual([declined]);
  });

  it('is understood where a server numbers nothing and omits empty fields', async () => {
    const pieces: string[] = [];
    const answer = new ResponsesAnswer([], {
      onEvent: (event) => {
        if (event.type === 'tool_arguments') pieces.push(`${event.index} ${event.text}`);
        if (event.type === 'text') pieces.push(`text ${event.text}`);
      },
    });
    const text = message('msg_1', [{ type: 'output_text', text: 'Both.', annotations: [] }]);
    const second = { ...CALL, call_id: 'call_2', arguments: '{}' };
    const thoughts: Items[number] = { type: 'reasoning', id: 'rs_1', summary: [] };
    for (const event of eventsOf([thoughts, text, CALL, second])) {
      const {
        output_index: _index,
        content_index: _content,
        ...rest
      } = JSON.parse(
        // Two calls come under their call ids alone, and thoughts without their lists.
        JSON.stringify(event).replaceAll('"summary":[],', '').replaceAll('"id":"fc_1",', ''),
      ) as Record<string, unknown>;
      const isDelta = event.type === 'response.function_call_arguments.delta';
      const id = pieces.some((piece) => piece.startsWith('1 ')) ? 'call_2' : 'call_1';
      // Pieces of text do not even name their item.
      if (event.type === 'response.output_text.delta') delete rest['item_id'];
      answer.add({ ...rest, ...(isDelta ? { item_id: id } : {}) } as unknown as typeof event);
    }
    const { calls } = await answer.finish('m-1', undefined);
    expect(calls.map(({ id }) => id)).toEqual(['call_1', 'call_2']);
    const streamed = (index: number | 'text'): string =>
      pieces
        .flatMap((piece) =>
          piece.startsWith(`${index} `) ? [piece.slice(`${index} `.length)] : [],
        )
        .join('');
    expect([streamed('text'), streamed(0), streamed(1)]).toEqual(['Both.', CALL.arguments, '{}']);
  });

  it('fails as the provider says when the response failed', async () => {
    const failed = (code: string): Promise<ModelResponse> =>
      answered([], { status: 'failed', error: { code, message: 'Because.' } });
    await expect(failed('server_error')).rejects.toMatchObject({ retryable: true });
    await expect(failed('rate_limit_exceeded')).rejects.toMatchObject({
      code: 'model_rate_limited',
      retryable: true,
    });
    await expect(failed('invalid_prompt')).rejects.toMatchObject({
      code: 'model_bad_request',
      retryable: false,
    });
    await expect(failed('image_too_large')).rejects.toMatchObject({ code: 'model_bad_request' });
    await expect(failed('bio_policy')).rejects.toMatchObject({ code: 'model_content_filtered' });
  });
});
