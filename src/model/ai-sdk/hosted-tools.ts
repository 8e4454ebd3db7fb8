/**
 * Calls that the provider of an answer runs itself: shown while they run, kept as items, and reported with their
 * outcome.
 */

import type { Message } from '../../protocol/conversation/messages.js';
import type { ModelCallOptions, ModelRequest, ProviderCall } from '../../protocol/model/model.js';
import type { Json } from '../../protocol/values/json.js';
import { fromWireName } from '../../protocol/values/tool-names.js';
import { NO_FILES } from '../shared/files.js';
import { type AiSdkItem, itemOf, markedBy } from './items.js';
import type { StreamPart } from './stream-parts.js';

interface HostedOrigin {
  /** The provider as the language model names it. */
  readonly provider: string;
  readonly request: ModelRequest;
  readonly onEvent: ModelCallOptions['onEvent'];
}

/** The provider's calls of one answer. */
export class HostedCalls {
  readonly #origin: HostedOrigin;
  readonly #calls: ProviderCall[] = [];
  /** Names of the calls that were announced to watchers, by id. */
  readonly #announced = new Map<string, string>();
  /** JSON texts of their inputs, by id. */
  readonly #inputs = new Map<string, string>();

  constructor(origin: HostedOrigin) {
    this.#origin = origin;
  }

  /** Calls that have ended. */
  get calls(): readonly ProviderCall[] {
    return this.#calls;
  }

  /** Announces a call. Safe to repeat. */
  begin(id: string, toolName: string): void {
    if (this.#announced.has(id)) return;
    this.#announced.set(id, fromWireName(toolName));
    this.#origin.onEvent({ type: 'provider_call', id, name: fromWireName(toolName) });
  }

  /** Reports a piece of a call's input; ignores calls that were not announced. */
  grow({ id, delta: text }: StreamPart<'tool-input-delta'>): void {
    const name = this.#announced.get(id);
    if (name === undefined) return;
    this.#origin.onEvent({ type: 'provider_call_progress', id, name, status: 'called', text });
  }

  /** The item that keeps the call. */
  call(part: StreamPart<'tool-call'>): AiSdkItem {
    const { type, toolCallId, toolName, input, providerMetadata } = part;
    this.begin(toolCallId, toolName);
    this.#inputs.set(toolCallId, input);
    return { type, toolCallId, toolName, input, ...markedBy(providerMetadata) };
  }

  /** The item that keeps its result. */
  result(part: StreamPart<'tool-result'>): AiSdkItem {
    const { type, toolCallId, toolName, isError = false, providerMetadata } = part;
    const result = part.result as Json;
    this.#calls.push({
      id: toolCallId,
      name: fromWireName(toolName),
      input: parsed(this.#inputs.get(toolCallId) ?? this.#earlierInput(toolCallId)),
      outcome: isError ? { error: plain(result) } : { output: result },
    });
    const error = isError ? { isError } : {};
    return { type, toolCallId, toolName, result, ...error, ...markedBy(providerMetadata) };
  }

  /** Some providers return the result of a call one request later. */
  #earlierInput(toolCallId: string): string {
    const { provider, request } = this.#origin;
    for (const item of itemsOf(request.messages, provider))
      if (item.type === 'tool-call' && 'toolCallId' in item && item.toolCallId === toolCallId)
        return item.input;
    return '{}';
  }
}

function* itemsOf(messages: readonly Message[], provider: string): Generator<AiSdkItem> {
  for (const message of messages.toReversed()) {
    if (message.role !== 'assistant') continue;
    for (const part of message.parts) {
      const item = part.type === 'provider_item' ? itemOf(provider, part, NO_FILES) : undefined;
      if (item !== undefined) yield item;
    }
  }
}

function parsed(json: string): Json {
  try {
    return JSON.parse(json) as Json;
  } catch {
    return json;
  }
}

function plain(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
