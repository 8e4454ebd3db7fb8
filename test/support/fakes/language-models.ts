/**
 * Language models of the AI SDK whose streams are made part by part, and the answers that `aiSdkModel` makes of them.
 */
import type {
  LanguageModelV4CallOptions,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
} from '@ai-sdk/provider';
import { type MockLanguageModelV3, MockLanguageModelV4 } from 'ai/test';
import {
  type AiSdkLanguageModel,
  type AiSdkModelOptions,
  aiSdkModel,
} from '../../../src/model/ai-sdk/adapter.js';
import { ModelFailure } from '../../../src/model/shared/failure.js';
import type { AssistantPart, Message } from '../../../src/protocol/conversation/messages.js';
import type {
  ModelFiles,
  ModelRequest,
  ModelResponse,
  ModelStreamEvent,
} from '../../../src/protocol/model/model.js';

export type Part = LanguageModelV4StreamPart;
type Finish = Extract<Part, { type: 'finish' }>;

const USAGE: LanguageModelV4Usage = {
  inputTokens: { total: 30, noCache: 10, cacheRead: 20, cacheWrite: 0 },
  outputTokens: { total: 9, text: 4, reasoning: 5 },
};
export const REQUEST: ModelRequest = {
  system: '',
  messages: [{ role: 'user', id: 'u', turnId: 't', parts: [{ type: 'text', text: 'Hi' }] }],
  tools: [],
};

export function ends(unified: Finish['finishReason']['unified'] = 'stop', raw?: string): Finish {
  return { type: 'finish', usage: USAGE, finishReason: { unified, raw } };
}

export const says = (text: string, id = '0'): readonly Part[] => [
  { type: 'text-start', id },
  { type: 'text-delta', id, delta: text },
  { type: 'text-end', id },
];

export const call = (toolCallId: string, input = '{}', more: object = {}): Part => ({
  type: 'tool-call',
  toolCallId,
  toolName: 'cart__read',
  input,
  ...more,
});

/** The parts at once, and the end. */
export function streamOf(parts: readonly Part[]): ReadableStream<Part> {
  return ReadableStream.from<Part>(parts);
}

/** A language model that streams these parts at every call. */
export function streaming(...parts: readonly Part[]): MockLanguageModelV4 {
  return new MockLanguageModelV4({
    provider: 'acme.chat',
    modelId: 'acme-1',
    doStream: () => Promise.resolve({ stream: streamOf(parts) }),
  });
}

/** The answer, and the live events that watchers saw of it. */
export async function ask(
  languageModel: AiSdkLanguageModel,
  request: Partial<ModelRequest> = {},
  options: AiSdkModelOptions = {},
  files?: ModelFiles,
): Promise<ModelResponse & { readonly events: readonly ModelStreamEvent[] }> {
  const events: ModelStreamEvent[] = [];
  const response = await aiSdkModel(languageModel, options).generate(
    { ...REQUEST, ...request },
    {
      signal: new AbortController().signal,
      onEvent: (event) => events.push(event),
      ...(files === undefined ? {} : { files }),
    },
  );
  return { ...response, events };
}

/** The failure of an answer that must fail. */
export async function failure(answer: Promise<unknown>): Promise<ModelFailure> {
  const error = await answer.then(
    () => new Error('it was answered'),
    (reason: unknown) => reason,
  );
  if (error instanceof ModelFailure) return error;
  throw error;
}

/** The prompt that the provider would get for an answer of the engine. */
export async function sentOf(
  parts: readonly AssistantPart[],
  languageModel: MockLanguageModelV4 | MockLanguageModelV3 = streaming(...says('ok'), ends()),
): Promise<LanguageModelV4CallOptions['prompt'][number]> {
  const message: Message = { role: 'assistant', id: 'a', turnId: 't', step: 1, parts };
  await ask(languageModel, { messages: [...REQUEST.messages, message] });
  const options = languageModel.doStreamCalls[0] as LanguageModelV4CallOptions | undefined;
  const last = options?.prompt.at(-1);
  if (last === undefined) throw new Error('nothing was sent');
  return last;
}

export const asked = (
  toolCallId: string,
  argumentsJson = '{}',
  name = 'cart.read',
): AssistantPart => ({
  type: 'tool_call',
  toolCallId,
  name,
  argumentsJson,
});
