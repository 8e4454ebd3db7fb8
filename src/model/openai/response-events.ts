/**
 * Assembles one answer from the events of a streamed response. Pieces are emitted as they arrive; the answer is built
 * from the finished items. Reads defensively: compatible servers leave out events and fields that OpenAI always sends.
 */
import type OpenAI from 'openai';
import type {
  ModelCallOptions,
  ModelFiles,
  ModelResponse,
  ModelTool,
} from '../../protocol/model/model.js';
import { fromWireName } from '../../protocol/values/tool-names.js';
import {
  contentFiltered,
  type ModelFailure,
  streamBroken,
  toModelFailure,
} from '../shared/failure.js';
import { argumentsText } from '../shared/wire-calls.js';
import { hostedName, isHostedCall } from './hosted-tools.js';
import type { OutputItem } from './items.js';
import { answerOf, BETWEEN_TEXTS, usageOf } from './output.js';

type StreamEvent = OpenAI.Responses.ResponseStreamEvent;
type Response = OpenAI.Responses.Response;
type Listeners = Pick<ModelCallOptions, 'onEvent' | 'onReport'>;

/** `response.web_search_call.searching` and the like: the call and its status. */
const PROGRESS = /^response\.(\w+_call)\.(\w+)$/;
/** The item of an event. Some servers do not number items, and name a call by its id alone. */
function placeOf(
  event: { readonly output_index?: number; readonly item_id?: string },
  item?: { readonly id?: string | null; readonly call_id?: string | null },
): string {
  const { output_index: index, item_id: id } = event;
  return typeof index === 'number' ? `#${index}` : (id ?? item?.id ?? item?.call_id ?? '');
}

interface StreamedCall {
  readonly index: number;
  text: string;
}

/** Takes the events of one answer in order, emits its pieces, and returns the whole at the end. */
export class ResponsesAnswer {
  readonly #tools: readonly ModelTool[];
  readonly #onEvent: Listeners['onEvent'];
  readonly #onReport: Listeners['onReport'];
  /** Finished items, in the order in which they were finished, which is the answer's. */
  readonly #done = new Map<string, OutputItem>();
  /** The engine's calls, by their items. */
  readonly #calls = new Map<string, StreamedCall>();
  /** Names of hosted calls, by their ids. */
  readonly #hosted = new Map<string, string>();
  /** The item and part that text last came from, by kind: text of another one is separated. */
  readonly #lastText = new Map<'text' | 'reasoning', string>();
  /** Places of the items that have text, by their number. */
  readonly #textPlaces: string[] = [];
  #last: Response | undefined;
  #isStarted = false;

  constructor(tools: readonly ModelTool[], { onEvent, onReport }: Listeners) {
    this.#tools = tools;
    this.#onReport = onReport;
    this.#onEvent = onEvent;
  }

  /** True once the provider has sent the end of the answer: later errors of the stream do not matter. */
  get isWhole(): boolean {
    return this.#last !== undefined;
  }

  /** True when the provider ended the response without a complete answer. */
  get hasFailed(): boolean {
    const { status, error } = this.#last ?? {};
    return status === 'failed' || status === 'cancelled' || Boolean(error);
  }

  /** Takes the next event. @throws ModelFailure when the event reports that the answer has failed */
  add(event: StreamEvent): void {
    this.#isStarted = true;
    switch (event.type) {
      case 'response.output_item.added':
        this.#begin(placeOf(event, event.item), event.item);
        return;
      case 'response.output_item.done':
        this.#end(placeOf(event, event.item), event.item);
        return;
      case 'response.output_text.delta':
      case 'response.refusal.delta':
        this.#say('text', event.delta, this.#placeOfText(event));
        return;
      case 'response.reasoning_summary_text.delta':
        this.#say('reasoning', event.delta, `${placeOf(event)} ${event.summary_index}`);
        return;
      case 'response.reasoning_text.delta':
        this.#say('reasoning', event.delta, `${placeOf(event)} text`);
        return;
      case 'response.function_call_arguments.delta':
        this.#addArguments(placeOf(event), event.delta);
        return;
      case 'response.code_interpreter_call_code.delta':
        this.#progress(event.item_id, 'writing_code', event.delta);
        return;
      case 'response.mcp_call_arguments.delta':
        this.#progress(event.item_id, 'arguments', event.delta);
        return;
      case 'response.completed':
      case 'response.incomplete':
      case 'response.failed':
        this.end(event.response);
        return;
      case 'error':
        // The client treats an error event without an event name like any other.
        throw toModelFailure({ error: event });
      default:
        this.#addProgress(event);
    }
  }

  /** Takes the final response, from the stream or from a poll. */
  end(response: Response): void {
    this.#last = response;
    if (response.usage) this.#onReport?.({ type: 'usage', usage: usageOf(response.usage) });
  }

  /**
   * Returns the answer. A call whose arguments the limit cut off is returned as it is: the engine reports it to the
   * model.
   * @throws ModelFailure `model_stream_broken` when the stream ended before the answer did; `model_content_filtered`;
   * the provider's failure
   */
  async finish(requestedModel: string, files: ModelFiles | undefined): Promise<ModelResponse> {
    const last = this.#last;
    if (last === undefined) throw this.#endedEarly();
    if (last.status === 'failed' || last.error)
      throw last.error ? toModelFailure({ error: last.error }) : streamBroken('The answer failed');
    if (last.status === 'cancelled') throw streamBroken('The answer was cancelled at the provider');
    const reason = last.incomplete_details?.reason;
    if (reason === 'content_filter') throw contentFiltered();
    return answerOf({
      items: this.#items(last),
      tools: this.#tools,
      files,
      incomplete: last.status === 'incomplete' ? (reason ?? 'max_output_tokens') : undefined,
      usage: last.usage,
      model: last.model || requestedModel,
    });
  }

  /** Some servers leave the items out of the last event. */
  #items({ output }: Response): readonly OutputItem[] {
    const items = (output as Response['output'] | undefined) ?? [];
    if (items.length >= this.#done.size) return items;
    return [...this.#done.values()];
  }

  #endedEarly(): ModelFailure {
    return this.#isStarted
      ? streamBroken("The model's stream ended before its answer did")
      : streamBroken('The server sent no events; is the base URL that of an OpenAI API?');
  }

  #begin(place: string, item: OutputItem): void {
    if (item.type === 'function_call') {
      const index = this.#calls.size;
      this.#calls.set(place, { index, text: '' });
      const name = fromWireName(item.name);
      this.#onEvent({ type: 'tool_arguments', index, name, id: item.call_id, text: '' });
      this.#addArguments(place, argumentsText(item.arguments));
    } else if (isHostedCall(item.type)) {
      const id = item.id ?? '';
      const name = hostedName({ ...item }, this.#tools);
      this.#hosted.set(id, name);
      this.#onEvent({ type: 'provider_call', id, name });
    }
  }

  #end(place: string, item: OutputItem): void {
    this.#done.set(place, item);
    if (item.type !== 'function_call') return;
    if (!this.#calls.has(place)) this.#begin(place, { ...item, arguments: '' });
    const streamed = this.#calls.get(place)?.text ?? '';
    // Emits the rest of the arguments that was not streamed.
    const whole = argumentsText(item.arguments);
    if (whole.startsWith(streamed)) this.#addArguments(place, whole.slice(streamed.length));
  }

  /** Like `placeOf`, without building the same text again for each of thousands of pieces. */
  #placeOfText(event: Parameters<typeof placeOf>[0]): string {
    const { output_index: index } = event;
    // Compatible servers do not number items.
    if (index === undefined) return placeOf(event);
    this.#textPlaces[index] ??= placeOf(event);
    return this.#textPlaces[index];
  }

  #say(type: 'text' | 'reasoning', text: string, from: string): void {
    if (typeof text !== 'string' || text === '') return;
    const before = this.#lastText.get(type);
    if (before !== undefined && before !== from) this.#onEvent({ type, text: BETWEEN_TEXTS });
    this.#lastText.set(type, from);
    this.#onEvent({ type, text });
  }

  #addArguments(place: string, text: string | undefined): void {
    const call = this.#calls.get(place);
    if (call === undefined || text === undefined || text === '') return;
    call.text += text;
    this.#onEvent({ type: 'tool_arguments', index: call.index, text });
  }

  #addProgress(event: StreamEvent): void {
    const status = PROGRESS.exec(event.type)?.[2];
    // A partial image is large, and not shown.
    if (status === undefined || status === 'partial_image' || !('item_id' in event)) return;
    this.#progress(event.item_id, status);
  }

  #progress(id: string, status: string, text?: string): void {
    const name = this.#hosted.get(id);
    if (name === undefined) return;
    const piece = text === undefined ? {} : { text };
    this.#onEvent({ type: 'provider_call_progress', id, name, status, ...piece });
  }
}
