/**
 * Assembles one answer from the stream parts of an AI SDK language model. Pure except for the events it emits.
 *
 * I1 Parts stand in the order in which the provider began them. If an engine's call is followed by more of the answer,
 *    or has marks of the provider, an item keeps its place.
 */
import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import type { ReasoningPart, TextPart, TextSource } from '../../protocol/conversation/messages.js';
import type {
  ModelCallOptions,
  ModelFiles,
  ModelRequest,
  ModelResponse,
  RequestedCall,
} from '../../protocol/model/model.js';
import { fromWireName } from '../../protocol/values/tool-names.js';
import { ModelFailure } from '../shared/failure.js';
import { argumentsAsked } from '../shared/wire-calls.js';
import { toAiSdkFailure } from './failure.js';
import { HostedCalls } from './hosted-tools.js';
import { type AiSdkItem, type Metadata, markedBy, toItem } from './items.js';
import { fileUrl, finishReasonOf, type StreamPart, sourcesOf, usageOf } from './stream-parts.js';

/** Part of every Anthropic answer: id, model and first token count, for watchers. It is not kept. */
const ANTHROPIC_BEGINNING = 'anthropic.message_start';

interface Block {
  readonly type: 'text' | 'reasoning';
  text: string;
  marks?: Metadata | undefined;
  sources?: readonly TextSource[];
}

interface HalfCall {
  readonly type: 'call';
  readonly index: number;
  readonly id: string;
  readonly name: string;
  input: string;
  marks?: Metadata | undefined;
}

type Entry = Block | HalfCall | { readonly type: 'item'; readonly item: AiSdkItem };

export interface AnswerOrigin {
  /** The provider as the language model names it. */
  readonly provider: string;
  readonly request: ModelRequest;
  readonly onEvent: ModelCallOptions['onEvent'];
  readonly onReport?: ModelCallOptions['onReport'];
  /** Redacted from texts of failures. */
  readonly secrets?: readonly string[];
}

/** Takes the parts of one answer in order, emits its pieces, and returns the whole at the end. */
export class AiSdkAnswer {
  readonly #origin: AnswerOrigin;
  readonly #entries: Entry[] = [];
  readonly #blocks = new Map<string, Block>();
  /** Calls whose arguments are still arriving, by id. */
  readonly #openCalls = new Map<string, HalfCall>();
  readonly #hosted: HostedCalls;
  #callCount = 0;
  #model: string | undefined;
  #finish: StreamPart<'finish'> | undefined;

  constructor(origin: AnswerOrigin) {
    this.#origin = origin;
    this.#hosted = new HostedCalls(origin);
  }

  /** Takes the next part. @throws ModelFailure for an error part, and for parts that a conversation cannot keep */
  add(part: LanguageModelV4StreamPart): void {
    switch (part.type) {
      case 'text-start':
      case 'text-delta':
      case 'text-end':
        this.#grow('text', part);
        return;
      case 'reasoning-start':
      case 'reasoning-delta':
      case 'reasoning-end':
        this.#grow('reasoning', part);
        return;
      case 'tool-input-start':
      case 'tool-input-delta':
      case 'tool-call':
      case 'tool-result':
      case 'tool-approval-request':
        this.#addOfTool(part);
        return;
      case 'file':
      case 'reasoning-file':
        this.#keep({
          type: part.type,
          mediaType: part.mediaType,
          url: fileUrl(part),
          ...markedBy(part.providerMetadata),
        });
        return;
      case 'custom':
        if (part.kind !== ANTHROPIC_BEGINNING)
          this.#keep({ type: 'custom', kind: part.kind, ...markedBy(part.providerMetadata) });
        return;
      case 'response-metadata':
        this.#model = part.modelId ?? this.#model;
        return;
      case 'finish':
        this.#finish = part;
        if (part.usage.outputTokens.total !== undefined)
          this.#origin.onReport?.({ type: 'usage', usage: usageOf(part.usage) });
        return;
      case 'error':
        throw toAiSdkFailure(part.error, this.#origin.secrets);
      case 'stream-start':
      case 'tool-input-end':
      case 'source':
      case 'ping':
      case 'raw':
        return;
    }
  }

  /**
   * Returns the answer. A call whose arguments `length` cut off is returned as it is: the engine reports it to the
   * model.
   * @throws ModelFailure `model_stream_broken` when the stream ended before the answer did; `model_content_filtered`
   */
  async finish(requestedModel: string, files?: ModelFiles): Promise<ModelResponse> {
    const calls = this.#entries.filter((entry) => entry.type === 'call');
    const hasText = this.#entries.some(
      (entry) => entry.type === 'text' && entry.text.trim() !== '',
    );
    const finishReason = finishReasonOf(this.#finish, hasText);
    return {
      parts: await this.#parts(files),
      calls: calls.map((call) => requestedCall(call, finishReason)),
      ...(this.#hosted.calls.length === 0 ? {} : { providerCalls: this.#hosted.calls }),
      // Some packages have no finish reason of the specification for calls.
      finishReason:
        calls.length > 0 && this.#finish?.finishReason.unified === 'other'
          ? 'tool_calls'
          : finishReason,
      usage: usageOf(this.#finish?.usage),
      model: this.#model ?? requestedModel,
    };
  }

  async #parts(files: ModelFiles | undefined): Promise<ModelResponse['parts']> {
    const parts: ModelResponse['parts'][number][] = [];
    const last = this.#lastContent();
    for (const [at, entry] of this.#entries.entries())
      for (const part of partsOf(entry, at < last)) {
        const kept =
          'providerItem' in part
            ? await toItem(this.#origin.provider, part.providerItem, files)
            : part;
        if (kept !== undefined) parts.push(kept);
      }
    return parts;
  }

  /** Index of the last entry that is not a call of the engine. */
  #lastContent(): number {
    return this.#entries.findLastIndex((entry) => entry.type !== 'call');
  }

  #grow(
    type: Block['type'],
    part: StreamPart<`${Block['type']}-${'start' | 'delta' | 'end'}`>,
  ): void {
    const key = `${type} ${part.id}`;
    const isNew = part.type.endsWith('-start') || !this.#blocks.has(key);
    const block = (isNew ? undefined : this.#blocks.get(key)) ?? { type, text: '' };
    if (isNew) {
      this.#blocks.set(key, block);
      this.#entries.push(block);
    }
    // The last value counts: a signature comes at the end of a reasoning block.
    block.marks = part.providerMetadata ?? block.marks;
    if (part.type === 'text-end' && part.citations !== undefined)
      block.sources = sourcesOf(part.citations);
    if (!('delta' in part) || part.delta === '') return;
    block.text += part.delta;
    this.#origin.onEvent({ type, text: part.delta });
  }

  #addOfTool(
    part: StreamPart<
      | 'tool-input-start'
      | 'tool-input-delta'
      | 'tool-call'
      | 'tool-result'
      | 'tool-approval-request'
    >,
  ): void {
    switch (part.type) {
      case 'tool-input-start':
        if (part.providerExecuted === true) this.#hosted.begin(part.id, part.toolName);
        else this.#begin(part.id, part.toolName);
        return;
      case 'tool-input-delta': {
        const call = this.#openCalls.get(part.id);
        if (call !== undefined) this.#addInput(call, part.delta);
        else this.#hosted.grow(part);
        return;
      }
      case 'tool-call':
        if (part.providerExecuted === true) this.#keep(this.#hosted.call(part));
        else this.#complete(part);
        return;
      case 'tool-result':
        if (part.preliminary !== true) this.#keep(this.#hosted.result(part));
        return;
      case 'tool-approval-request':
        throw new ModelFailure(
          'model_bad_request',
          'The provider asks for an approval of a tool that it runs, which aiSdkModel cannot pass on: let the provider run it without',
          { retryable: false },
        );
    }
  }

  #begin(id: string, toolName: string): HalfCall {
    const index = this.#callCount;
    this.#callCount += 1;
    const name = fromWireName(toolName);
    const call: HalfCall = { type: 'call', index, id, name, input: '' };
    this.#entries.push(call);
    this.#openCalls.set(id, call);
    this.#origin.onEvent({ type: 'tool_arguments', index, name, id, text: '' });
    return call;
  }

  #addInput(call: HalfCall, text: string): void {
    call.input += text;
    if (text !== '') this.#origin.onEvent({ type: 'tool_arguments', index: call.index, text });
  }

  /** The streamed text may be incomplete: empty for `{}`, for instance. */
  #complete({ toolCallId, toolName, input, providerMetadata }: StreamPart<'tool-call'>): void {
    const call = this.#openCalls.get(toolCallId) ?? this.#begin(toolCallId, toolName);
    this.#openCalls.delete(toolCallId);
    if (call.input === '') this.#addInput(call, input);
    call.input = input;
    call.marks = providerMetadata;
  }

  #keep(item: AiSdkItem): void {
    this.#entries.push({ type: 'item', item });
  }
}

type KeptPart = TextPart | ReasoningPart | { readonly providerItem: AiSdkItem };

function partsOf(entry: Entry, isBeforeContent: boolean): readonly KeptPart[] {
  switch (entry.type) {
    case 'text':
    case 'reasoning':
      return blockParts(entry);
    case 'call': {
      const { index, marks } = entry;
      if (marks === undefined && !isBeforeContent) return [];
      return [{ providerItem: { type: 'tool-call', index, ...markedBy(marks) } }];
    }
    case 'item':
      return [{ providerItem: entry.item }];
  }
}

/** Reasoning has an item even without marks: it names the provider. */
function blockParts({ type, text, marks, sources = [] }: Block): readonly KeptPart[] {
  if (text === '')
    return marks === undefined ? [] : [{ providerItem: { type, text, ...markedBy(marks) } }];
  const part = { type, text, ...(sources.length === 0 ? {} : { sources }) };
  if (type === 'text' && marks === undefined) return [part];
  return [part, { providerItem: { type, ...markedBy(marks) } }];
}

function requestedCall({ id, name, input }: HalfCall, finishReason: string): RequestedCall {
  return { id, name, argumentsJson: argumentsAsked(input, finishReason === 'length') };
}
