/**
 * The OpenAI Chat Completions protocol of the scripted model server: requests in, chunks and errors out. As strict as
 * OpenAI's own server about tool names and about calls without results, to find the requests that OpenAI would refuse.
 * Pure.
 */
import type { ScriptAnswer, ScriptRequest, ScriptResult } from './script.js';

export interface ChatBody {
  readonly model: string;
  readonly stream: boolean;
  readonly includeUsage: boolean;
  readonly messages: readonly WireMessage[];
  readonly toolNames: readonly string[];
}

export interface WireMessage {
  readonly role: string;
  readonly content?: string | null;
  readonly tool_call_id?: string;
  readonly tool_calls?: readonly WireCall[];
}

interface WireCall {
  readonly id: string;
  readonly type: 'function';
  readonly function: { readonly name: string; readonly arguments: string };
}

export interface WireError {
  readonly status: number;
  readonly message?: string;
  readonly type?: string;
  readonly code?: string;
}

/** An answer with the fields that a server may add. */
export type FinishedAnswer = ScriptAnswer & { readonly finishReason?: string };

const WIRE_NAME = /^[a-zA-Z0-9_-]{1,64}$/;

/** A body in OpenAI's shape for errors. */
export function apiError({ message, type, code, status }: WireError): object {
  return {
    error: {
      message: message ?? `The scripted server answers ${status}.`,
      type: type ?? (status >= 500 ? 'server_error' : 'invalid_request_error'),
      param: null,
      code: code ?? null,
    },
  };
}

/** The parsed request, or the reason for its refusal. */
export function parseChatBody(body: unknown): ChatBody | WireError {
  if (typeof body !== 'object' || body === null || !('messages' in body) || !('model' in body))
    return { status: 400, message: 'The body must be JSON with "model" and "messages".' };
  const fields = body as {
    readonly model: string;
    readonly stream?: boolean;
    readonly stream_options?: { readonly include_usage?: boolean };
    readonly messages: readonly WireMessage[];
    readonly tools?: readonly { readonly function?: { readonly name: string } }[];
  };
  if (!Array.isArray(fields.messages))
    return { status: 400, message: '"messages" must be a list.' };
  const toolNames = (fields.tools ?? []).map((tool) => tool.function?.name ?? '');
  const problem = problemOf(fields.messages, toolNames);
  if (problem !== undefined) return { status: 400, message: problem };
  return {
    model: fields.model,
    stream: fields.stream === true,
    includeUsage: fields.stream_options?.include_usage === true,
    messages: fields.messages,
    toolNames: toolNames.map(ownName),
  };
}

function problemOf(
  messages: readonly WireMessage[],
  toolNames: readonly string[],
): string | undefined {
  const calls = messages.flatMap((message) => message.tool_calls ?? []);
  const names = [...toolNames, ...calls.map((call) => call.function.name)];
  const badName = names.find((name) => !WIRE_NAME.test(name));
  if (badName !== undefined) return `Invalid name '${badName}': must match '${WIRE_NAME.source}'.`;
  for (const [index, message] of messages.entries()) {
    const missing = missingResults(message, messages.slice(index + 1));
    if (missing.length > 0)
      return `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. Missing: ${missing.join(', ')}`;
  }
  return undefined;
}

function missingResults(message: WireMessage, later: readonly WireMessage[]): readonly string[] {
  const end = later.findIndex(({ role }) => role !== 'tool');
  const results = (end < 0 ? later : later.slice(0, end)).map((result) => result.tool_call_id);
  const ids = (message.tool_calls ?? []).map(({ id }) => id);
  return ids.filter((id) => !results.includes(id));
}

/** The input of the script. */
export function scriptRequestOf({ messages, toolNames }: ChatBody): ScriptRequest {
  const lastUser = messages.findLastIndex(({ role }) => role === 'user');
  const names = new Map(
    messages.flatMap((message) =>
      (message.tool_calls ?? []).map((call) => [call.id, ownName(call.function.name)] as const),
    ),
  );
  const results = messages.slice(lastUser + 1).filter(({ role }) => role === 'tool');
  return {
    userTexts: messages.filter(({ role }) => role === 'user').map(({ content }) => content ?? ''),
    toolNames,
    results: results.map((message) => ({
      name: names.get(message.tool_call_id ?? '') ?? '',
      ...resultOf(message.content ?? ''),
    })),
  };
}

/** The engine sends envelopes; other clients may send any text. */
function resultOf(content: string): Omit<ScriptResult, 'name'> {
  try {
    const value: unknown = JSON.parse(content);
    if (typeof value === 'object' && value !== null && 'ok' in value)
      return value as Omit<ScriptResult, 'name'>;
    return { ok: true, result: value };
  } catch {
    return { ok: true, result: content };
  }
}

/** The chunks of a streamed answer, in the order and the shapes in which OpenAI sends them. */
export function streamChunks(body: ChatBody, answer: FinishedAnswer): readonly object[] {
  const deltas: object[] = [{ role: 'assistant', content: '' }];
  for (const piece of wordsOf(answer.reasoning)) deltas.push({ reasoning_content: piece });
  for (const piece of wordsOf(answer.text)) deltas.push({ content: piece });
  for (const [index, call] of wireCalls(body, answer).entries()) {
    const { name, arguments: text } = call.function;
    deltas.push({ tool_calls: [{ index, ...call, function: { name, arguments: '' } }] });
    for (const piece of text.match(/.{1,12}/gsu) ?? [])
      deltas.push({ tool_calls: [{ index, function: { arguments: piece } }] });
  }
  const base = { id: idOf(body), object: 'chat.completion.chunk', created: 0, model: body.model };
  const chunks: object[] = deltas.map((delta) => ({
    ...base,
    choices: [{ index: 0, delta, finish_reason: null }],
  }));
  const finish_reason = finishReasonOf(answer);
  chunks.push({ ...base, choices: [{ index: 0, delta: {}, finish_reason }] });
  if (body.includeUsage) chunks.push({ ...base, choices: [], usage: usageOf(body, answer) });
  return chunks;
}

/** The same answer in one piece. */
export function completionOf(body: ChatBody, answer: FinishedAnswer): object {
  const calls = wireCalls(body, answer);
  const message = {
    role: 'assistant',
    content: answer.text ?? null,
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  };
  return {
    id: idOf(body),
    object: 'chat.completion',
    created: 0,
    model: body.model,
    choices: [{ index: 0, message, finish_reason: finishReasonOf(answer) }],
    usage: usageOf(body, answer),
  };
}

/** Ids count on from the conversation, so that a restarted server never repeats one. */
function wireCalls({ messages }: ChatBody, { calls = [] }: ScriptAnswer): readonly WireCall[] {
  const before = messages.flatMap((message) => message.tool_calls ?? []).length;
  return calls.map(({ name, input }, index) => ({
    id: `call_${before + index + 1}`,
    type: 'function',
    function: {
      name: name.replaceAll('.', '__'),
      arguments: typeof input === 'string' ? input : JSON.stringify(input),
    },
  }));
}

function ownName(wireName: string): string {
  return wireName.replaceAll('__', '.');
}

function idOf({ messages }: ChatBody): string {
  return `chatcmpl-scripted-${messages.length}`;
}

function finishReasonOf(answer: FinishedAnswer): string {
  return answer.finishReason ?? ((answer.calls ?? []).length > 0 ? 'tool_calls' : 'stop');
}

/** About a token for every four characters. */
function usageOf({ messages }: ChatBody, answer: ScriptAnswer): object {
  const prompt_tokens = Math.ceil(JSON.stringify(messages).length / 4);
  const completion_tokens = Math.ceil(JSON.stringify(answer).length / 4);
  return {
    prompt_tokens,
    completion_tokens,
    total_tokens: prompt_tokens + completion_tokens,
    prompt_tokens_details: { cached_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: 0 },
  };
}

function wordsOf(text = ''): readonly string[] {
  return text.match(/\s*\S+\s*/g) ?? [];
}
