/** Messages of the transcript, provider-neutral. Runs anywhere. */
import type { EarlierResult, Provenance, ToolResultEnvelope } from '../calls/results.js';
import { MAX_EARLIER_RESULTS } from '../limits/limits.js';
import type { FilePart, ImagePart } from '../values/attachments.js';
import type { MessageId, ToolCallId, TurnId } from '../values/ids.js';
import type { Json } from '../values/json.js';

export interface TextPart {
  readonly type: 'text';
  readonly text: string;
  /** Sources that the model names; at most `MAX_TEXT_SOURCES`. Absent: it names none. */
  readonly sources?: readonly TextSource[];
}

/** A source that a model names for a text, or for its part from `startIndex` up to `endIndex` (characters). */
export type TextSource = (
  | { readonly type: 'url'; readonly url: string; readonly title?: string }
  | {
      readonly type: 'file';
      /** The provider's id of the file. */
      readonly fileId: string;
      readonly filename?: string;
      /** The provider's container that has the file, such as a code interpreter's. */
      readonly containerId?: string;
    }
) & { readonly startIndex?: number; readonly endIndex?: number };

export interface ReasoningPart {
  readonly type: 'reasoning';
  readonly text: string;
}

/** The model's call, as it was made: `argumentsJson` is its exact text, so that prompt caches hit. */
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
  /** Present when the result came from outside. Policies read it; the model does not get it. */
  readonly provenance?: Extract<Provenance, 'untrusted'>;
}

/** An item that only its provider understands; kept and sent back to that provider unchanged. */
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
  /** Present when the message stands for an inbox event: the event's id. */
  readonly inbox?: string;
  /** Present when the message is a summary: its ordinal. It stands for all turns up to the one named here, included. */
  readonly summary?: number;
}

export interface AssistantMessage {
  readonly role: 'assistant';
  readonly id: MessageId;
  readonly turnId: TurnId;
  readonly step: number;
  readonly parts: readonly AssistantPart[];
  /** Present when the message is incomplete: the turn was cancelled while it streamed. */
  readonly partial?: true;
  /** Present when the engine wrote the message (a limit was reached), not the model. */
  readonly synthetic?: true;
  /**
   * Results of the calls that the provider ran for this message. Policies read it; the model has the provider's own
   * items.
   */
  readonly providerResults?: readonly EarlierResult[];
}

/** The results of one step, in the model's call order: every call of the step has exactly one. */
export interface ToolMessage {
  readonly role: 'tool';
  readonly id: MessageId;
  readonly turnId: TurnId;
  readonly step: number;
  readonly parts: readonly ToolResultPart[];
  /** No model call reads the step: its only call has ended the turn. Absent: later model calls read it. */
  readonly skipped?: true;
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

/** The results of a turn's finished steps, in the model's order; at most `MAX_EARLIER_RESULTS`, the newest. */
export function resultsOfTurn(
  messages: readonly Message[],
  turnId: TurnId,
): readonly EarlierResult[] {
  return messages
    .flatMap((message) => (message.turnId === turnId ? resultsIn(message) : []))
    .slice(-MAX_EARLIER_RESULTS);
}

/** The ended calls in a message, as policies get them. */
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
