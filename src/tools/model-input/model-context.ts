/**
 * Calls a model with the context that its agent may use of a conversation: assembles it, and once more, smaller, if the
 * provider still finds it too long. Runs in the worker, and in tests of users.
 */
import {
  type AssembledContext,
  assembleContext,
  type ContextParts,
} from '../../core/context/assemble.js';
import { messageBytes, withoutSkipped } from '../../core/context/transcript.js';
import type { AnyAgent } from '../../define/define-agent.js';
import type { ContextMark, ModelContext } from '../../protocol/conversation/context.js';
import type {
  AssistantPart,
  Message,
  ToolResultPart,
  UserPart,
} from '../../protocol/conversation/messages.js';
import type { ModelResponse } from '../../protocol/model/model.js';
import { promptOf } from './prompt.js';

/** See `model/shared/count-tokens.ts`. */
export interface Counting {
  readonly rough: CountText;
  readonly exact: () => Promise<CountText>;
}

export type CountText = (text: string) => number;

export interface ModelQuestion {
  readonly agent: AnyAgent;
  /** The transcript as the log has it; the last turn is the one in progress. */
  readonly messages: readonly Message[];
  readonly mark?: ContextMark | undefined;
  /** See `ContextParts`. */
  readonly heldBytes?: number | undefined;
  readonly counting: Counting;
  readonly ask: AskModel;
  /** Whether an error of `ask` means that there were too many tokens. */
  readonly isTooLong: (error: unknown) => boolean;
}

export type AskModel = (given: GivenContext) => Promise<ModelResponse>;

export interface GivenContext {
  readonly messages: readonly Message[];
  /** Number of messages that the next call begins with as well. */
  readonly stable: number;
  /** Estimated tokens of the whole prompt. */
  readonly tokens: number;
}

export type ModelAnswer =
  | { readonly response: ModelResponse; readonly context: ModelContext }
  /** Why the model cannot be called. */
  | { readonly tooLong: string };

/**
 * Below this share of the budget a rough count is sufficient: even if it were 2.5 times too low, nothing would be due
 * yet.
 */
const ROUGH_SHARE = 0.25;
/** Roles, separators and names of fields, as providers encode them. */
const TOKENS_PER_PART = 4;
/**
 * About the amount that is billed for one image; @see OpenAI, "Images and vision": 85 tokens, and 170 for each tile of
 * a larger one.
 */
const TOKENS_PER_IMAGE = { low: 85, high: 1_105, auto: 1_105 } as const;
/**
 * An assumption, because the file is not read here: a few pages. The provider's own count corrects it at the next call.
 */
const TOKENS_PER_FILE = 4_000;

/** @throws errors of `ask`, except the first one that means too many tokens */
export async function askInContext(question: ModelQuestion): Promise<ModelAnswer> {
  const { agent, ask, isTooLong } = question;
  const parts = await partsOf(question);
  const first = assembleContext(parts);
  const { tokens, budget } = first.context;
  if (first.tooLong && agent.context.guessed !== true)
    return {
      tooLong: `The turn alone, with the system prompt and the tools, has about ${tokens} tokens; the agent's model calls may have ${budget}`,
    };
  try {
    return { response: await ask(givenBy(first)), context: first.context };
  } catch (error) {
    if (!isTooLong(error)) throw error;
    const smaller = assembleContext({ ...parts, refusedAt: tokens });
    // There is nothing to leave out: the provider's own message is as clear as any.
    if (smaller.context.compacted === undefined) throw error;
    try {
      return { response: await ask(givenBy(smaller)), context: smaller.context };
    } catch (again) {
      if (!isTooLong(again)) throw again;
      return {
        tooLong: `The turn is too long for the model, even with older turns left out (about ${smaller.context.tokens} tokens)`,
      };
    }
  }
}

function givenBy({ messages, stable, context }: AssembledContext): GivenContext {
  return { messages, stable, tokens: context.tokens };
}

async function partsOf(question: ModelQuestion): Promise<ContextParts> {
  const { agent, mark, heldBytes, counting } = question;
  const messages = withoutSkipped(question.messages);
  const { context, tools } = agent;
  const fixed = promptOf(agent).whole;
  const retentions = new Map(tools.map(({ name, retention }) => [name, retention]));
  const policy = {
    budget: context.maxTokens,
    ...(context.window === undefined ? {} : { window: context.window }),
    retentionOf: (name: string) => retentions.get(name) ?? context.retention,
    ...(context.retentionWhenNeeded === true
      ? {}
      : { atOnce: (name: string) => retentions.get(name) !== undefined }),
  };
  const { rough } = counting;
  const atLeast = Math.max(sumOf(messages, rough) + rough(fixed), mark?.inputTokens ?? 0);
  const isFar = atLeast < context.maxTokens * ROUGH_SHARE;
  const count = isFar ? rough : await counting.exact();
  return {
    messages,
    policy,
    mark,
    heldBytes,
    sizeOf,
    countTokens: (message) => tokensOf(message, count),
    fixedTokens: count(fixed),
    ...(isFar ? { rough: true } : {}),
  };
}

/** Messages never change, so each is measured once. */
const sizes = new WeakMap<Message, number>();

function sizeOf(message: Message): number {
  const known = sizes.get(message);
  if (known !== undefined) return known;
  const bytes = messageBytes(message);
  sizes.set(message, bytes);
  return bytes;
}

function sumOf(messages: readonly Message[], count: CountText): number {
  return messages.reduce((sum, message) => sum + tokensOf(message, count), 0);
}

/** Messages never change, so each is counted once by each way of counting. */
const counts = new WeakMap<CountText, WeakMap<Message, number>>();

export function tokensOf(message: Message, count: CountText): number {
  const known = counts.get(count) ?? new WeakMap<Message, number>();
  counts.set(count, known);
  const before = known.get(message);
  if (before !== undefined) return before;
  const parts: readonly AnyPart[] = message.parts;
  const tokens = parts.reduce((sum, part) => sum + tokensOfPart(part, count), 0);
  known.set(message, tokens);
  return tokens;
}

type AnyPart = UserPart | AssistantPart | ToolResultPart;

function tokensOfPart(part: AnyPart, count: CountText): number {
  if (part.type === 'image') return TOKENS_PER_IMAGE[part.detail ?? 'auto'];
  if (part.type === 'file') return TOKENS_PER_FILE;
  const files = part.type === 'tool_result' && part.envelope.ok ? part.envelope.files : undefined;
  const shown = (files ?? []).reduce((sum, file) => sum + tokensOfPart(file, count), 0);
  return count(textOf(part)) + TOKENS_PER_PART + shown;
}

/** An approximation of the text of a part that reaches the model. */
function textOf(part: Exclude<AnyPart, { type: 'image' | 'file' }>): string {
  switch (part.type) {
    case 'text':
    case 'reasoning':
      return part.text;
    case 'tool_call':
      return `${part.toolCallId} ${part.name} ${part.argumentsJson}`;
    case 'tool_result':
      return `${part.toolCallId} ${JSON.stringify(part.envelope)}`;
    case 'provider_item':
      return JSON.stringify(part.item);
  }
}
