/** Plays an answer of a script: its pieces, the ids of its calls, and the whole. */

import type { AssistantPart, ProviderPart } from '../../protocol/conversation/messages.js';
import type { Usage } from '../../protocol/conversation/turns.js';
import type {
  ModelCallOptions,
  ModelRequest,
  ModelResponse,
  ProviderCall,
  RequestedCall,
} from '../../protocol/model/model.js';
import { throwIfAborted } from '../shared/stream-watch.js';
import type { GivenAnswer, ScriptedCall, ScriptedProviderCall } from './types.js';

const DEFAULT_USAGE: Usage = { inputTokens: 10, outputTokens: 5 };

/** Emits the answer piece by piece, like a real model, and returns the whole. @throws when it is stopped */
export async function played(
  answer: GivenAnswer,
  request: ModelRequest,
  { signal, onEvent }: ModelCallOptions,
): Promise<ModelResponse> {
  const { reasoning = '', text = '' } = answer;
  const hosted = hostedCalls(answer.providerCalls ?? [], request);
  for (const { id, name } of hosted) onEvent({ type: 'provider_call', id, name });
  for (const [type, whole] of [['reasoning', reasoning] as const, ['text', text] as const]) {
    for (const piece of piecesOf(whole)) {
      onEvent({ type, text: piece });
      // Pieces of a real model arrive one by one: the caller may stop the call between two.
      await Promise.resolve();
      throwIfAborted(signal);
    }
  }
  const requested = requestedCalls(answer.calls ?? [], request);
  for (const [index, { id, name, argumentsJson }] of requested.entries())
    onEvent({ type: 'tool_arguments', index, name, id, text: argumentsJson });
  return {
    parts: [
      ...(reasoning === '' ? [] : [{ type: 'reasoning' as const, text: reasoning }]),
      ...hosted.map(hostedItem),
      ...(text === '' ? [] : [{ type: 'text' as const, text }]),
    ],
    calls: requested,
    ...(hosted.length === 0 ? {} : { providerCalls: hosted }),
    finishReason: answer.finishReason ?? (requested.length > 0 ? 'tool_calls' : 'stop'),
    usage: answer.usage ?? DEFAULT_USAGE,
    model: 'scripted',
  };
}

/** Splits by words, because a piece of a character is not text. */
function piecesOf(text: string): readonly string[] {
  return text.match(/\s*\S+\s*/g) ?? (text === '' ? [] : [text]);
}

/** Ids continue from the transcript, not from a counter, so that a model in a new process continues them as well. */
function requestedCalls(
  scripted: readonly ScriptedCall[],
  request: ModelRequest,
): readonly RequestedCall[] {
  let minted = lastMintedId(request);
  return scripted.map(({ name, input, id, hosted }) => {
    if (id === undefined) minted += 1;
    const asked = { id: id ?? `call_${minted}`, name, argumentsJson: JSON.stringify(input) };
    return hosted === true ? { ...asked, hosted } : asked;
  });
}

function lastMintedId(request: ModelRequest): number {
  const ids = request.messages.flatMap(({ role, parts }) =>
    role === 'assistant'
      ? parts.map((part) => (part.type === 'tool_call' ? part.toolCallId : ''))
      : [],
  );
  return Math.max(0, ...ids.map((id) => Number(/^call_(\d{1,9})$/.exec(id)?.[1] ?? 0)));
}

/** Numbers continue from the transcript, where each call left its item. */
function hostedCalls(
  scripted: readonly ScriptedProviderCall[],
  { messages }: ModelRequest,
): readonly ProviderCall[] {
  let minted = messages.flatMap(({ parts }) =>
    (parts as readonly AssistantPart[]).filter((part) => part.type === 'provider_item'),
  ).length;
  return scripted.map(({ name, input, output = null, error, id }) => {
    minted += 1;
    const outcome = error === undefined ? { output } : { error };
    return { id: id ?? `hosted_${minted}`, name, input, outcome };
  });
}

function hostedItem({ id, name, input, outcome }: ProviderCall): ProviderPart {
  const item = { type: 'hosted_call', id, name, input, outcome: { ...outcome } };
  return { type: 'provider_item', provider: 'scripted', item };
}
