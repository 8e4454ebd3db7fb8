/** Messages of the transcript, provider-neutral. Runs anywhere. */
import type { EarlierResult, Provenance, ToolResultEnvelope } from '../calls/results.js';
import { MAX_EARLIER_RESULTS } from '../limits/limits.js';
import type { FilePart, ImagePart } from '../values/attachments.js';
import type { MessageId, ToolCallId, TurnId } from '../values/ids.js';
import type { Json } from '../values/json.js';

export interface TextPart {
  readonly type: 'text';
  readonly text: string;
  /** Where the model has it from; at most `MAX_TEXT_SOURCES`. Absent: it does not say. */
  readonly sources?: readonly TextSource[];
}

/** What a model names as the source of a text, or of the part of it from `startIndex` up to `endIndex` (characters). */
export type TextSource = (
  | { readonly type: 'url'; readonly url: string; readonly title?: string }
  | {
      readonly type: 'file';
      /** The provider's. */
      readonly fileId: string;
      readonly filename?: string;
      /** The file lies in a container of the provider's, such as a code interpreter's. */
      readonly containerId?: string;
    }
) & { readonly startIndex?: number; readonly endIndex?: number };

export interface ReasoningPart {
  readonly type: 'reasoning';
  readonly text: string;
}

/** The model's request, as it was made: `argumentsJson` is its text to the letter, so that prompt caches hit. */
export interface ToolCallPart {
  readonly type: 'tool_call';
  readonly toolCallId: ToolCallId;
  /** The tool's own name, not the provider's encoding of it. */
  readonly name: string;
  readonly argumentsJson: string;
}

export interface ToolResultPart {
  readonly type: 'tool_result';
  readonly toolCallId: ToolCallId;
  readonly name: string;
  readonly envelope: ToolResultEnvelope;
  /** Present when somebody outside gave it. Policies look at it; the model is not told. */
  readonly provenance?: Extract<Provenance, 'untrusted'>;
}

/** An item that only its provider understands; kept and replayed to that provider as it came. */
export interface ProviderPart {
  readonly type: 'provider_item';
  readonly provider: string;
  readonly item: Json;
}

export type UserPart = TextPart | ImagePart | FilePart;

export type AssistantPart = TextPart | ReasoningPart | ToolCallPart | ProviderPart;

export interface UserMessage {
  readonly role: 'user';
  readonly id: MessageId;
  readonly turnId: TurnId;
  readonly parts: readonly UserPart[];
  /** Present when no user said it: the id of the inbox event. */
  readonly inbox?: string;
  /** Present when no user said it: the ordinal of the summary that stands for all turns before, the one named here the last. */
  readonly summary?: number;
}

export interface AssistantMessage {
  readonly role: 'assistant';
  readonly id: MessageId;
  readonly turnId: TurnId;
  readonly step: number;
  readonly parts: readonly AssistantPart[];
  /** Present when the message is not whole: the turn was cancelled while it streamed. */
  readonly partial?: true;
  /** Present when the engine wrote it (a limit was reached), not the model. */
  readonly synthetic?: true;
  /** What the provider ran before it was said. Policies look at it; the model has the provider's own items. */
  readonly providerResults?: readonly EarlierResult[];
}

/** The results of one step, in the model's call order: every call of the step has exactly one. */
export interface ToolMessage {
  readonly role: 'tool';
  readonly id: MessageId;
  readonly turnId: TurnId;
  readonly step: number;
  readonly parts: readonly ToolResultPart[];
}

export type Message = UserMessage | AssistantMessage | ToolMessage;

/** The text parts of a message, joined. */
export function textOf(parts: readonly (UserPart | AssistantPart | ToolResultPart)[]): string {
  return parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
}

export function earlierResult(
  part: Pick<ToolResultPart, 'toolCallId' | 'name' | 'envelope'> & {
    readonly provenance?: Provenance | undefined;
  },
): EarlierResult {
  const { toolCallId, name, envelope, provenance = 'trusted' } = part;
  return { toolCallId, name, ok: envelope.ok, provenance };
}

/** The results of a turn's steps that are over, in the model's order; the newest of very many. */
export function resultsOfTurn(
  messages: readonly Message[],
  turnId: TurnId,
): readonly EarlierResult[] {
  return messages
    .flatMap((message) => (message.turnId === turnId ? resultsIn(message) : []))
    .slice(-MAX_EARLIER_RESULTS);
}

/** What a message tells policies of calls that are over. */
export function resultsIn(message: Message): readonly EarlierResult[] {
  switch (message.role) {
    case 'user':
      return [];
    case 'assistant':
      return message.providerResults ?? [];
    case 'tool':
      return message.parts.map(earlierResult);
  }
}
