/**
 * Assembles one answer from the chunks of a streamed chat completion. Reads defensively: compatible servers leave out,
 * repeat and misnumber fields that OpenAI always sends. Pure except for the events it emits.
 */
import type OpenAI from 'openai';
import type { TextSource } from '../../protocol/conversation/messages.js';
import type { Usage } from '../../protocol/conversation/turns.js';
import { MAX_TEXT_SOURCES } from '../../protocol/limits/service-limits.js';
import type {
  ModelCallOptions,
  ModelResponse,
  ModelTool,
  RequestedCall,
} from '../../protocol/model/model.js';
import { fromWireName, toWireName } from '../../protocol/values/tool-names.js';
import { contentFiltered, streamBroken } from '../shared/failure.js';
import { argumentsAsked, argumentsText } from '../shared/wire-calls.js';
import { sourcesOf } from './sources.js';

type Chunk = OpenAI.ChatCompletionChunk;
type CallDelta = NonNullable<Chunk['choices'][number]['delta']['tool_calls']>[number];
type Listeners = Pick<ModelCallOptions, 'onEvent' | 'onReport'>;

interface HalfCall {
  readonly position: number;
  id: string;
  wireName: string;
  argumentsJson: string;
}

interface GrowingPart {
  readonly type: 'text' | 'reasoning';
  text: string;
  readonly sources?: readonly TextSource[];
}

/** Takes the chunks of one answer in order, emits its pieces, and returns the whole at the end. */
export class ChatAnswer {
  readonly #onEvent: Listeners['onEvent'];
  readonly #onReport: Listeners['onReport'];
  readonly #wireNames: readonly string[];
  readonly #parts: GrowingPart[] = [];
  /** In the order in which they began, which is the model's. */
  readonly #calls: HalfCall[] = [];
  /** The call that deltas with an index belong to. */
  readonly #callAtIndex = new Map<number, HalfCall>();
  #finishReason: string | undefined;
  #usage: Usage | undefined;
  #model: string | undefined;
  #isStarted = false;
  #isRefused = false;
  readonly #sources: TextSource[] = [];

  constructor(tools: readonly ModelTool[], { onEvent, onReport }: Listeners) {
    this.#onReport = onReport;
    this.#wireNames = tools.map(({ name }) => toWireName(name));
    this.#onEvent = onEvent;
  }

  /** Takes the next chunk. */
  add(chunk: Chunk): void {
    this.#isStarted = true;
    if (chunk.model) this.#model = chunk.model;
    if (chunk.usage) {
      this.#usage = usageOf(chunk.usage);
      this.#onReport?.({ type: 'usage', usage: this.#usage });
    }
    // Servers leave out `choices` of the usage chunk, and `delta` of the last one.
    const choice = (chunk.choices as Chunk['choices'] | undefined)?.[0];
    if (choice === undefined) return;
    if (choice.finish_reason) this.#finishReason = choice.finish_reason;
    const delta = choice.delta as Partial<typeof choice.delta> | null | undefined;
    if (!delta) return;
    this.#grow('reasoning', reasoningOf(delta));
    this.#grow('text', delta.content);
    this.#grow('text', delta.refusal);
    this.#isRefused ||= Boolean(delta.refusal);
    if ('annotations' in delta) this.#sources.push(...sourcesOf(delta.annotations));
    for (const call of delta.tool_calls ?? []) this.#addCall(call);
  }

  /**
   * Returns the answer. A call whose arguments `length` cut off is returned as it is: the engine reports it to the
   * model.
   * @throws ModelFailure `model_stream_broken` when the stream ended before the answer did; `model_content_filtered`
   */
  finish(requestedModel: string): ModelResponse {
    const finishReason = this.#finishReason ?? this.#impliedFinishReason();
    if (finishReason === 'content_filter') throw contentFiltered();
    return {
      parts: this.#parts.map((part) => this.#withSources(part)),
      calls: this.#calls.map((call) => requestedCall(call, finishReason)),
      finishReason: finishReason === 'stop' && this.#isRefused ? 'refusal' : finishReason,
      usage: this.#usage ?? { inputTokens: 0, outputTokens: 0 },
      model: this.#model ?? requestedModel,
    };
  }

  /** Usage comes after the answer: if it came without a finish reason, the server does not send one. */
  #impliedFinishReason(): string {
    const hasContent = this.#parts.length > 0 || this.#calls.length > 0;
    if (hasContent && this.#usage !== undefined)
      return this.#calls.length > 0 ? 'tool_calls' : 'stop';
    if (this.#isStarted) throw streamBroken("The model's stream ended before its answer did");
    throw streamBroken('The server sent no events; is the base URL that of an OpenAI API?');
  }

  /** The sources belong to the text as a whole; other parts have none. */
  #withSources(part: GrowingPart): GrowingPart {
    const isSaid = part.type === 'text' && this.#sources.length > 0;
    return isSaid ? { ...part, sources: this.#sources.slice(0, MAX_TEXT_SOURCES) } : part;
  }

  #grow(type: GrowingPart['type'], text: unknown): void {
    if (typeof text !== 'string' || text === '') return;
    const last = this.#parts.at(-1);
    if (last?.type === type) last.text += text;
    else this.#parts.push({ type, text });
    this.#onEvent({ type, text });
  }

  #addCall(delta: CallDelta): void {
    const call = this.#callOf(delta);
    if (delta.id) call.id = delta.id;
    const named = this.#addName(call, delta.function?.name);
    const text = argumentsText(delta.function?.arguments);
    call.argumentsJson += text;
    if (!named && text === '') return;
    this.#onEvent({
      type: 'tool_arguments',
      index: call.position,
      ...(named ? { name: fromWireName(call.wireName) } : {}),
      ...(named && call.id !== '' ? { id: call.id } : {}),
      text,
    });
  }

  #callOf(delta: CallDelta): HalfCall {
    const index = delta.index as number | null | undefined;
    const current = typeof index === 'number' ? this.#callAtIndex.get(index) : this.#calls.at(-1);
    if (current !== undefined && !beginsAnother(current, delta)) return current;
    const position = this.#calls.length;
    const call = { position, id: '', wireName: '', argumentsJson: '' };
    this.#calls.push(call);
    if (typeof index === 'number') this.#callAtIndex.set(index, call);
    return call;
  }

  /** Adds a piece of a name, unless it repeats the whole name. Returns whether the name grew. */
  #addName(call: HalfCall, piece: string | null | undefined): boolean {
    if (typeof piece !== 'string' || piece === '') return false;
    const joined = call.wireName + piece;
    const isKnownBeginning = this.#wireNames.some((name) => name.startsWith(joined));
    if (piece === call.wireName && !isKnownBeginning) return false;
    call.wireName = joined;
    return true;
  }
}

/** Some servers give all calls of a step the index 0, or none: then a new id with a name begins a new call. */
function beginsAnother(current: HalfCall, delta: CallDelta): boolean {
  const hasOtherId = Boolean(delta.id) && current.id !== '' && delta.id !== current.id;
  return hasOtherId && Boolean(delta.function?.name);
}

function requestedCall(call: HalfCall, finishReason: string): RequestedCall {
  const { id, wireName } = call;
  const argumentsJson = argumentsAsked(call.argumentsJson, finishReason === 'length');
  return { id, name: fromWireName(wireName), argumentsJson };
}

/** Compatible servers stream reasoning under either name; OpenAI's own streams none. */
function reasoningOf(delta: object): unknown {
  if ('reasoning_content' in delta && delta.reasoning_content) return delta.reasoning_content;
  return 'reasoning' in delta ? delta.reasoning : undefined;
}

function usageOf(usage: OpenAI.CompletionUsage): Usage {
  const cached = usage.prompt_tokens_details?.cached_tokens;
  const reasoning = usage.completion_tokens_details?.reasoning_tokens;
  return {
    inputTokens: tokens(usage.prompt_tokens),
    outputTokens: tokens(usage.completion_tokens),
    ...(typeof cached === 'number' ? { cachedInputTokens: cached } : {}),
    ...(typeof reasoning === 'number' ? { reasoningTokens: reasoning } : {}),
  };
}

function tokens(value: unknown): number {
  return typeof value === 'number' && value > 0 ? value : 0;
}
