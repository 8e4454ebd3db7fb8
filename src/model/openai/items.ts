/**
 * Converts output items of OpenAI's Responses to the form of the transcript, and back. Texts, calls and their arguments
 * are separate parts of the transcript, so they are removed from the items; the rest of an item stands before its parts
 * and marks their place. Reassembled, items go back unchanged, in their order. Pure.
 */
import type OpenAI from 'openai';
import type {
  AssistantMessage,
  AssistantPart,
  ToolCallPart,
} from '../../protocol/conversation/messages.js';
import { isRecord, type Json } from '../../protocol/values/json.js';
import { type LoadedFiles, wholeItem } from '../shared/files.js';
import { sendableArguments, sendableName } from '../shared/wire-calls.js';
import { toAnnotations } from './sources.js';

/** The `provider` of these `provider_item`s; other adapters leave them out. */
export const RESPONSES = 'openai.responses';

export type OutputItem = OpenAI.Responses.ResponseOutputItem;
export type InputItem = OpenAI.Responses.ResponseInputItem;
type Fields = Readonly<Record<string, Json | undefined>>;

/** An item without the content that is kept beside it: texts, and the arguments of a call. */
export function strippedItem(item: OutputItem): Json {
  const fields = item as unknown as Fields;
  switch (item.type) {
    case 'message':
      return { ...fields, content: listOf(item.content).map(({ type }) => ({ type })) };
    case 'reasoning':
      return {
        ...fields,
        summary: listOf(item.summary).map(({ type }) => ({ type })),
        ...(item.content === undefined
          ? {}
          : { content: item.content.map(({ type }) => ({ type })) }),
      };
    case 'function_call': {
      // A call that was cut off has a result like any other.
      const { arguments: _asked, name: _name, call_id: _id, status: _status, ...rest } = fields;
      return rest;
    }
    default:
      return fields;
  }
}

/** Compatible servers leave out lists that are empty. */
export function listOf<Item>(list: readonly Item[] | null | undefined): readonly Item[] {
  return list ?? [];
}

/**
 * Whether the item is useful when it comes back: a reasoning item without content is only an id that the provider did
 * not store.
 */
export function isKept(item: OutputItem): boolean {
  if (item.type !== 'reasoning') return true;
  const hasContent = listOf(item.content).length > 0;
  return (Boolean(item.encrypted_content) || hasContent) && item.status !== 'incomplete';
}

/** The input items of one answer, and its approval requests by the engine's call ids. */
export interface AnswerInput {
  readonly items: readonly InputItem[];
  /** The provider's id of each approval request, by the id of the engine's call. */
  readonly approvals: ReadonlyMap<string, string>;
}

/** An answer in the provider's form: its own items if there are any, else the texts and calls of the transcript. */
export function answerInput(message: AssistantMessage, loaded: LoadedFiles): AnswerInput {
  const own = message.parts.some((part) => isOwnItem(part));
  const restored = new Restored(message, loaded);
  return own ? restored.fromItems() : restored.fromParts();
}

function isOwnItem(part: AssistantPart): boolean {
  return part.type === 'provider_item' && part.provider === RESPONSES;
}

class Restored {
  readonly #parts: readonly AssistantPart[];
  readonly #calls: ToolCallPart[];
  readonly #loaded: LoadedFiles;
  readonly #items: InputItem[] = [];
  readonly #approvals = new Map<string, string>();

  constructor({ parts }: AssistantMessage, loaded: LoadedFiles) {
    this.#parts = parts;
    this.#calls = parts.filter((part) => part.type === 'tool_call');
    this.#loaded = loaded;
  }

  /** For an answer of another API or provider, one that was cut short, or one that the engine wrote. */
  fromParts(): AnswerInput {
    for (const part of this.#parts)
      if (part.type === 'text' && part.text !== '')
        this.#items.push({ role: 'assistant', content: part.text });
    return this.#withRestOfCalls();
  }

  fromItems(): AnswerInput {
    for (const [index, part] of this.#parts.entries()) {
      if (part.type !== 'provider_item' || part.provider !== RESPONSES) continue;
      const item = this.#restored(part.item, this.#parts.slice(index + 1));
      if (item === undefined) this.#dropThoughts();
      else this.#items.push(item as unknown as InputItem);
    }
    const whole = this.#withRestOfCalls();
    // Reasoning is rejected when the item that followed it is missing.
    this.#dropThoughts();
    return whole;
  }

  #restored(item: Json, after: readonly AssistantPart[]): Fields | undefined {
    const whole = wholeItem(item, this.#loaded);
    if (!isRecord(whole)) return undefined;
    const fields = whole as Fields;
    switch (fields['type']) {
      case 'message':
        return { ...fields, content: contentOf(fields['content'], after) };
      case 'reasoning':
        return thoughtOf(fields, after);
      case 'function_call': {
        const call = this.#calls.shift();
        return call === undefined ? undefined : { ...fields, ...callFields(call) };
      }
      case 'mcp_approval_request': {
        const call = this.#calls.shift();
        if (call === undefined) return undefined;
        const { id } = fields;
        this.#approvals.set(call.toolCallId, typeof id === 'string' ? id : '');
        return fields;
      }
      default:
        return fields;
    }
  }

  #withRestOfCalls(): AnswerInput {
    for (const call of this.#calls)
      this.#items.push({ type: 'function_call', ...callFields(call) });
    this.#calls.length = 0;
    return { items: this.#items, approvals: this.#approvals };
  }

  #dropThoughts(): void {
    while (this.#items.at(-1)?.type === 'reasoning') this.#items.pop();
  }
}

function callFields({ toolCallId, name, argumentsJson }: ToolCallPart): {
  readonly call_id: string;
  readonly name: string;
  readonly arguments: string;
} {
  return {
    call_id: toolCallId,
    name: sendableName(name),
    arguments: sendableArguments(argumentsJson),
  };
}

function contentOf(content: Json | undefined, after: readonly AssistantPart[]): Json {
  const texts = after.filter((part) => part.type === 'text');
  return placesOf(content).map((place, index) => {
    const { text = '', sources = [] } = texts[index] ?? {};
    return place['type'] === 'refusal'
      ? { ...place, refusal: text }
      : { ...place, text, annotations: toAnnotations(sources) };
  });
}

function thoughtOf(fields: Fields, after: readonly AssistantPart[]): Fields {
  const texts = after.flatMap((part) => (part.type === 'reasoning' ? [part.text] : []));
  const summary = placesOf(fields['summary']);
  const content = placesOf(fields['content']);
  const filled = (places: readonly Fields[], from: number): Json =>
    places.map((place, index) => ({ ...place, text: texts[from + index] ?? '' }));
  return {
    ...fields,
    summary: filled(summary, 0),
    ...(content.length === 0 ? {} : { content: filled(content, summary.length) }),
  };
}

function placesOf(value: Json | undefined): readonly Fields[] {
  return Array.isArray(value) ? value.filter(isRecord).map((place) => place as Fields) : [];
}
