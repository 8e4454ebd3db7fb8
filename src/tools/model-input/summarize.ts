/**
 * Has a model summarise the oldest turns of a conversation: as a text to read, not as a conversation to continue, so
 * that no tool can be called and no message counts as an instruction. Runs in the worker, and in tests of users.
 */
import { withoutSkipped } from '../../core/context/transcript.js';
import { headLength, summaryOf, turnSpans } from '../../core/context/turn-spans.js';
import type { AnyAgent } from '../../define/define-agent.js';
import type {
  AssistantPart,
  Message,
  ToolResultPart,
  UserPart,
} from '../../protocol/conversation/messages.js';
import { textOf } from '../../protocol/conversation/messages.js';
import { TEXTS } from '../../protocol/failures/texts.js';
import { CONTEXT_SHARE_OF_MODEL, MAX_SUMMARY_BYTES } from '../../protocol/limits/service-limits.js';
import type { Model, ModelRequest, ModelResponse } from '../../protocol/model/model.js';
import { utf8Bytes } from '../../protocol/values/json.js';
import { cutText } from '../../protocol/values/well-formed.js';
import { type Counting, type CountText, tokensOf } from './model-context.js';

/** Version of the engine's instructions and of the format of the conversation in the request. */
export const SUMMARY_VERSION = 1;

/** Longest part of a message. A longer one is represented by its beginning and its end. */
const MAX_MESSAGE_CHARS = 8_000;
/** When the model finds the text too long, half of it is tried, and a quarter. */
const TRIES = 3;

export interface SummaryQuestion {
  readonly model: Model;
  readonly instructions?: string;
  /** Whole turns, oldest first, after an earlier summary. */
  readonly messages: readonly Message[];
  /** Input tokens that the model may be given. */
  readonly maxTokens: number;
  readonly counting: Counting;
  readonly ask: (request: ModelRequest) => Promise<ModelResponse>;
  readonly isTooLong: (error: unknown) => boolean;
}

export interface MadeSummary {
  readonly text: string;
  /** Id of the last message that the summary covers: the last one of a turn. */
  readonly throughMessageId: string;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  readonly response: ModelResponse;
}

/** The model that summarises for an agent, and how much it reads; undefined when the agent wants no summaries. */
export function summarizerOf(
  agent: AnyAgent,
): Pick<SummaryQuestion, 'model' | 'instructions' | 'maxTokens'> | undefined {
  const { summarize, maxTokens } = agent.context;
  if (summarize === false) return undefined;
  const { model = agent.model, instructions } = summarize;
  const reads = model === agent.model ? undefined : model.contextTokens;
  return {
    model,
    ...(instructions === undefined ? {} : { instructions }),
    maxTokens: reads === undefined ? maxTokens : Math.floor(reads * CONTEXT_SHARE_OF_MODEL),
  };
}

/**
 * Covers as many turns as the model may be given, at least the first. Undefined when the model wrote nothing.
 * @throws errors of `ask`
 */
export async function makeSummary(question: SummaryQuestion): Promise<MadeSummary | undefined> {
  const { messages, maxTokens, ask, isTooLong, instructions } = question;
  const count = await question.counting.exact();
  for (let attempt = 1; ; attempt += 1) {
    const most = Math.floor(maxTokens / 2 ** (attempt - 1));
    const { covered, transcript } = readable(messages, count, most);
    const last = covered.at(-1);
    if (last === undefined) return undefined;
    const request: ModelRequest = {
      system: instructions ?? TEXTS.summaryInstructions,
      messages: [
        {
          role: 'user',
          id: 'conversation',
          turnId: last.turnId,
          parts: [{ type: 'text', text: TEXTS.toSummarize(transcript) }],
        },
      ],
      tools: [],
    };
    try {
      const response = await ask(request);
      const text = clipped(textOf(response.parts).trim());
      if (text === '') return undefined;
      return {
        text,
        throughMessageId: last.id,
        tokensBefore: covered.reduce((sum, message) => sum + tokensOf(message, count), 0),
        tokensAfter: count(TEXTS.summary(text)),
        response,
      };
    } catch (error) {
      if (!isTooLong(error) || attempt === TRIES) throw error;
    }
  }
}

/** The oldest whole turns that fit, and their text; a turn that does not fit alone is cut. */
function readable(
  messages: readonly Message[],
  count: CountText,
  maxTokens: number,
): { readonly covered: readonly Message[]; readonly transcript: string } {
  const summary = summaryOf(messages);
  const head = messages.slice(0, headLength(messages));
  let transcript = summary === undefined ? '' : textOf(summary.parts);
  let tokens = count(transcript) + count(TEXTS.summaryInstructions);
  let to = head.length;
  for (const span of turnSpans(messages)) {
    const text = withoutSkipped(messages.slice(span.from, span.to)).map(summaryTextOf).join('\n');
    tokens += count(text);
    const isFirst = to === head.length;
    if (tokens > maxTokens && !isFirst) break;
    transcript =
      `${transcript}\n\n${tokens > maxTokens ? shortened(text, maxTokens) : text}`.trim();
    to = span.to;
  }
  return { covered: to === head.length ? [] : messages.slice(0, to), transcript };
}

function summaryTextOf({ role, parts }: Message): string {
  const all: readonly AnyPart[] = parts;
  return all.map((part) => shortened(partText(role, part), MAX_MESSAGE_CHARS)).join('\n');
}

type AnyPart = UserPart | AssistantPart | ToolResultPart;

function partText(role: Message['role'], part: AnyPart): string {
  switch (part.type) {
    case 'text':
      return `${role === 'user' ? 'User' : 'Assistant'}: ${part.text}`;
    case 'tool_call':
      return `Assistant called ${part.name}(${part.argumentsJson})`;
    case 'tool_result':
      return `${part.name} returned ${JSON.stringify(part.envelope)}`;
    case 'image':
      return 'User showed an image';
    case 'file':
      return `User gave a file${part.filename === undefined ? '' : `: ${part.filename}`}`;
    // Reasoning is not part of the conversation, and items of a provider are for that provider alone.
    case 'reasoning':
    case 'provider_item':
      return '';
  }
}

function shortened(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const half = Math.floor(maxChars / 2);
  // Providers refuse a request with half of a surrogate pair.
  const end = text.slice(-half).replace(/^[\udc00-\udfff]/, '');
  return `${cutText(text, half)} […] ${end}`;
}

function clipped(text: string): string {
  const bytes = utf8Bytes(text);
  if (bytes <= MAX_SUMMARY_BYTES) return text;
  const marker = TEXTS.truncated(MAX_SUMMARY_BYTES, bytes);
  let kept = cutText(text, MAX_SUMMARY_BYTES - marker.length);
  while (utf8Bytes(kept) + marker.length > MAX_SUMMARY_BYTES)
    kept = cutText(kept, Math.floor(kept.length * 0.9));
  return `${kept}${marker}`;
}
