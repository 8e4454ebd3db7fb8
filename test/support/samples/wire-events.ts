/**
 * Streams of OpenAI's two APIs for an answer, in the order and the shapes of their reference. The types are those of
 * OpenAI's own package, so that the compiler rejects events that would never come.
 */
import type OpenAI from 'openai';

type StreamEvent = OpenAI.Responses.ResponseStreamEvent;
type Item = OpenAI.Responses.ResponseOutputItem;
type Response = OpenAI.Responses.Response;
type Chunk = OpenAI.ChatCompletionChunk;
type DistributiveOmit<Union, Key extends PropertyKey> = Union extends unknown
  ? Omit<Union, Key>
  : never;

export interface WireCall {
  readonly id: string;
  readonly name: string;
  /** As text, so that it may be malformed. */
  readonly arguments: string;
}

/** An answer that either API can give. */
export interface PlainAnswer {
  readonly text?: string;
  readonly refusal?: string;
  readonly reasoning?: string;
  readonly calls?: readonly WireCall[];
  readonly stoppedBy?: 'length' | 'content_filter';
}

export const CHAT_USAGE: OpenAI.CompletionUsage = {
  prompt_tokens: 100,
  completion_tokens: 20,
  total_tokens: 120,
  prompt_tokens_details: { cached_tokens: 64 },
  completion_tokens_details: { reasoning_tokens: 8 },
};

const RESPONSE_USAGE: OpenAI.Responses.ResponseUsage = {
  input_tokens: 100,
  output_tokens: 20,
  total_tokens: 120,
  input_tokens_details: { cached_tokens: 64, cache_write_tokens: 0 },
  output_tokens_details: { reasoning_tokens: 8 },
};

export function chatEvents(answer: PlainAnswer): readonly Chunk[] {
  const { text = '', refusal = '', reasoning = '', calls = [], stoppedBy } = answer;
  const base = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 0, model: 'm-1' };
  type Delta = Chunk['choices'][number]['delta'];
  const chunk = (delta: Delta, finish_reason: Chunk['choices'][number]['finish_reason'] = null) =>
    ({ ...base, choices: [{ index: 0, delta, finish_reason }] }) as Chunk;
  return [
    chunk({ role: 'assistant', content: '' }),
    ...piecesOf(reasoning).map((piece) => chunk({ reasoning_content: piece } as Delta)),
    ...piecesOf(text).map((content) => chunk({ content })),
    ...piecesOf(refusal).map((piece) => chunk({ refusal: piece })),
    ...calls.flatMap(({ id, name, arguments: all }, index) => [
      chunk({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] }),
      ...piecesOf(all).map((piece) =>
        chunk({ tool_calls: [{ index, function: { arguments: piece } }] }),
      ),
    ]),
    chunk({}, stoppedBy ?? (calls.length > 0 ? 'tool_calls' : 'stop')),
    { ...base, choices: [], usage: CHAT_USAGE } as Chunk,
  ];
}

export function responsesEvents(answer: PlainAnswer): readonly StreamEvent[] {
  const { text = '', refusal = '', reasoning = '', calls = [], stoppedBy } = answer;
  const items: Item[] = [];
  if (reasoning !== '') items.push(thought('rs_1', reasoning));
  if (text !== '') items.push(message('msg_1', [{ type: 'output_text', text, annotations: [] }]));
  if (refusal !== '') items.push(message('msg_2', [{ type: 'refusal', refusal }]));
  for (const [index, { id, name, arguments: asked }] of calls.entries())
    items.push({
      type: 'function_call',
      id: `fc_${index + 1}`,
      call_id: id,
      name,
      arguments: asked,
      status: stoppedBy === undefined ? 'completed' : 'incomplete',
    });
  const reason = stoppedBy === 'length' ? 'max_output_tokens' : stoppedBy;
  return eventsOf(
    items,
    reason === undefined ? {} : { status: 'incomplete', incomplete_details: { reason: reason } },
  );
}

export function message(
  id: string,
  content: OpenAI.Responses.ResponseOutputMessage['content'],
): OpenAI.Responses.ResponseOutputMessage {
  return { type: 'message', id, role: 'assistant', status: 'completed', content };
}

export function thought(id: string, summary = ''): OpenAI.Responses.ResponseReasoningItem {
  return {
    type: 'reasoning',
    id,
    summary: summary === '' ? [] : [{ type: 'summary_text', text: summary }],
    encrypted_content: `encrypted-${id}`,
  };
}

/** Every event that a server streams for these items; `last` is part of the response at its end. */
export function eventsOf(
  items: readonly Item[],
  last: Partial<Response> = {},
): readonly StreamEvent[] {
  const events: DistributiveOmit<StreamEvent, 'sequence_number'>[] = [];
  events.push({ type: 'response.created', response: response([], { status: 'in_progress' }) });
  for (const [output_index, item] of items.entries()) {
    events.push({ type: 'response.output_item.added', output_index, item: begun(item) });
    events.push(...piecesOfItem(item, output_index));
    events.push({ type: 'response.output_item.done', output_index, item });
  }
  const whole = response(items, { status: 'completed', ...last });
  const type =
    `response.${whole.status === 'failed' || whole.status === 'incomplete' ? whole.status : 'completed'}` as const;
  events.push({ type, response: whole });
  return events.map((event, sequence_number) => ({ ...event, sequence_number }));
}

/** The response of a server that was not asked to stream. */
export function wholeResponse(events: readonly StreamEvent[]): Response {
  const last = events.at(-1);
  if (last === undefined || !('response' in last)) throw new Error('no response');
  return { ...last.response };
}

function response(output: readonly Item[], fields: Partial<Response>): Response {
  return {
    id: 'resp_1',
    object: 'response',
    created_at: 0,
    model: 'm-1',
    output: [...output],
    output_text: '',
    access_programs: null,
    error: null,
    incomplete_details: null,
    instructions: null,
    metadata: null,
    parallel_tool_calls: true,
    temperature: 1,
    tool_choice: 'auto',
    tools: [],
    top_p: 1,
    ...(fields.status === 'in_progress' ? {} : { usage: RESPONSE_USAGE }),
    ...fields,
  };
}

/** An item as its first event announces it: without the fields that come in pieces. */
function begun(item: Item): Item {
  switch (item.type) {
    case 'message':
      return { ...item, status: 'in_progress', content: [] };
    case 'reasoning':
      return { ...item, summary: [] };
    case 'function_call':
    case 'mcp_call':
      return { ...item, arguments: '' };
    case 'image_generation_call':
      return { ...item, result: null, status: 'in_progress' };
    default:
      return item;
  }
}

type Piece = DistributiveOmit<StreamEvent, 'sequence_number'>;

function piecesOfItem(item: Item, output_index: number): readonly Piece[] {
  const item_id = item.id ?? '';
  const at = { item_id, output_index };
  switch (item.type) {
    case 'message':
      return item.content.flatMap((part, content_index) =>
        piecesOfContent(part, { ...at, content_index }),
      );
    case 'reasoning':
      return item.summary.flatMap(({ text }, summary_index) =>
        piecesOf(text).map(
          (delta): Piece => ({
            type: 'response.reasoning_summary_text.delta',
            ...at,
            summary_index,
            delta,
          }),
        ),
      );
    case 'function_call':
      return [
        ...piecesOf(item.arguments).map(
          (delta): Piece => ({ type: 'response.function_call_arguments.delta', ...at, delta }),
        ),
        { type: 'response.function_call_arguments.done', ...at, arguments: item.arguments },
      ];
    case 'web_search_call':
      return [
        { type: 'response.web_search_call.in_progress', ...at },
        { type: 'response.web_search_call.searching', ...at },
        { type: 'response.web_search_call.completed', ...at },
      ];
    case 'file_search_call':
      return [
        { type: 'response.file_search_call.in_progress', ...at },
        { type: 'response.file_search_call.searching', ...at },
        { type: 'response.file_search_call.completed', ...at },
      ];
    case 'code_interpreter_call':
      return [
        { type: 'response.code_interpreter_call.in_progress', ...at },
        ...piecesOf(item.code ?? '').map(
          (delta): Piece => ({ type: 'response.code_interpreter_call_code.delta', ...at, delta }),
        ),
        { type: 'response.code_interpreter_call_code.done', ...at, code: item.code ?? '' },
        { type: 'response.code_interpreter_call.interpreting', ...at },
        { type: 'response.code_interpreter_call.completed', ...at },
      ];
    case 'image_generation_call':
      return [
        { type: 'response.image_generation_call.in_progress', ...at },
        { type: 'response.image_generation_call.generating', ...at },
        {
          type: 'response.image_generation_call.partial_image',
          ...at,
          partial_image_b64: 'AAAA',
          partial_image_index: 0,
        },
        { type: 'response.image_generation_call.completed', ...at },
      ];
    case 'mcp_call':
      return [
        { type: 'response.mcp_call.in_progress', ...at },
        ...piecesOf(item.arguments).map(
          (delta): Piece => ({ type: 'response.mcp_call_arguments.delta', ...at, delta }),
        ),
        { type: 'response.mcp_call_arguments.done', ...at, arguments: item.arguments },
        item.error
          ? { type: 'response.mcp_call.failed', ...at }
          : { type: 'response.mcp_call.completed', ...at },
      ];
    case 'mcp_list_tools':
      return [
        { type: 'response.mcp_list_tools.in_progress', ...at },
        { type: 'response.mcp_list_tools.completed', ...at },
      ];
    default:
      return [];
  }
}

type Place = Pick<
  OpenAI.Responses.ResponseTextDeltaEvent,
  'item_id' | 'output_index' | 'content_index'
>;

function piecesOfContent(
  part: OpenAI.Responses.ResponseOutputMessage['content'][number],
  at: Place,
): readonly Piece[] {
  const done: Piece = { type: 'response.content_part.done', ...at, part };
  if (part.type === 'refusal') {
    const { refusal } = part;
    return [
      { type: 'response.content_part.added', ...at, part: { ...part, refusal: '' } },
      ...piecesOf(refusal).map(
        (delta): Piece => ({ type: 'response.refusal.delta', ...at, delta }),
      ),
      { type: 'response.refusal.done', ...at, refusal },
      done,
    ];
  }
  const { text, annotations } = part;
  return [
    { type: 'response.content_part.added', ...at, part: { ...part, text: '', annotations: [] } },
    ...piecesOf(text).map(
      (delta): Piece => ({ type: 'response.output_text.delta', ...at, delta, logprobs: [] }),
    ),
    ...annotations.map(
      (annotation, annotation_index): Piece => ({
        type: 'response.output_text.annotation.added',
        ...at,
        annotation,
        annotation_index,
      }),
    ),
    { type: 'response.output_text.done', ...at, text, logprobs: [] },
    done,
  ];
}

function piecesOf(text: string): readonly string[] {
  return text.match(/.{1,12}/gsu) ?? [];
}
