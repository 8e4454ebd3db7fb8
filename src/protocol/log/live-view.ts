/**
 * The state of a streamed answer for its readers. Live events come late, twice or not at all; a reader passes them to
 * this class in the order in which they come, mixed with the events of the log. Runs anywhere.
 *
 * I1 A higher attempt makes void the text that lower ones have streamed and still send; so does a later turn for
 * earlier ones.
 * I2 An event of the log makes its live events void: those of a step whose message is logged, and of a turn that has
 * ended.
 * I3 Text is taken by its offset: known text is cut off, and missing text is detected.
 */

import { isEarlierTurn, type MessageId, type TurnId } from '../values/ids.js';
import type { CanonicalEvent } from './events.js';
import type { LiveEvent, ModelCallFailed } from './live-events.js';

/** The newest attempt of the running model call, as far as its events were received. */
export interface StreamedAnswer {
  readonly turnId: TurnId;
  readonly step: number;
  readonly attempt: number;
  readonly messageId: MessageId;
  readonly text: string;
  readonly reasoning: string;
  /** Calls that the model is writing, by their place in the answer. */
  readonly calls: readonly StreamedCall[];
  /** False when a piece before the end of these texts was missed. The message in the log has all of it. */
  readonly isWhole: boolean;
  /** The attempt has failed; the next one takes its place, unless there is none. */
  readonly failure?: Pick<ModelCallFailed, 'code' | 'message' | 'httpStatus' | 'nextInMs'>;
}

export interface StreamedCall {
  readonly index: number;
  readonly name?: string;
  /** JSON text, possibly incomplete. */
  readonly argumentsJson: string;
}

type OfAnswer = Exclude<LiveEvent, { type: 'tool_call_started' | 'tool_progress' }>;
type Piece = Extract<OfAnswer, { text?: string }> & {
  readonly offset: number;
  readonly text: string;
};

interface Heard {
  readonly event: Piece;
  end: number;
  text: string;
}

/** Follows the newest turn of one conversation; its memory is bounded by the streamed text of one step. */
export class LiveView {
  /** From the log: its newest turn, that turn's last step with a message, and its calls with a result. */
  #turnId: TurnId | undefined;
  #step = 0;
  readonly #endedCalls = new Set<string>();
  /** Turns whose live events are void: the last that has ended, and the one streamed before the present one. */
  #endedTurnId: TurnId | undefined;
  #leftTurnId: TurnId | undefined;
  /** The turn streamed when the log was rewritten: void until the new log has it. */
  #unsureTurnId: TurnId | undefined;
  #answer: Answer | undefined;

  /** The answer that is being streamed; undefined while the log has all that was streamed. */
  get answer(): StreamedAnswer | undefined {
    return this.#answer?.shown();
  }

  /** Takes an event of the log. */
  note(event: CanonicalEvent): void {
    switch (event.type) {
      case 'turn_started':
        this.#toldOf(event.turnId, 0);
        this.#endedCalls.clear();
        break;
      case 'assistant_message':
        this.#toldOf(event.turnId, event.step);
        break;
      case 'tool_result':
        this.#endedCalls.add(event.toolCallId);
        break;
      case 'turn_ended':
        this.#turnId = event.turnId;
        this.#endedTurnId = event.turnId;
        break;
      case 'log_rewritten':
        this.#forget();
        break;
      default:
        return;
    }
    if (this.#answer !== undefined && this.#isLogged(this.#answer.of)) this.#answer = undefined;
  }

  /**
   * Takes a live event and returns its new part: the event, with known text cut off. Undefined when the event came too
   * late, or is a repeat.
   */
  take(event: LiveEvent): LiveEvent | undefined {
    if (this.isVoid(event)) return undefined;
    return isOfTool(event) ? event : this.#answerOf(event).take(event);
  }

  /** Number of characters missing between the known text and this event. */
  missingBefore(event: LiveEvent): number {
    if (isOfTool(event) || !isPiece(event) || this.isVoid(event)) return 0;
    const known = this.#answer?.isOf(event) === true ? this.#answer.endOf(event) : 0;
    return Math.max(0, event.offset - known);
  }

  /** Whether the event came too late: a later attempt, step or turn, or the log, has superseded it. */
  isVoid(event: LiveEvent): boolean {
    if ([this.#endedTurnId, this.#leftTurnId, this.#unsureTurnId].includes(event.turnId))
      return true;
    if (isOfTool(event)) return this.#endedCalls.has(event.toolCallId);
    return this.#isLogged(event) || this.#answer?.replaces(event) === true;
  }

  #isLogged({ turnId, step }: Pick<OfAnswer, 'turnId' | 'step'>): boolean {
    if (turnId === this.#endedTurnId || isEarlierTurn(turnId, this.#turnId)) return true;
    return turnId === this.#turnId && step <= this.#step;
  }

  #toldOf(turnId: TurnId, step: number): void {
    this.#turnId = turnId;
    this.#step = step;
    if (turnId === this.#unsureTurnId) this.#unsureTurnId = undefined;
  }

  #answerOf(event: OfAnswer): Answer {
    const before = this.#answer;
    if (before?.isOf(event) === true) return before;
    if (before !== undefined && before.of.turnId !== event.turnId)
      this.#leftTurnId = before.of.turnId;
    const answer = new Answer(event);
    this.#answer = answer;
    return answer;
  }

  #forget(): void {
    // A later turn that the new log does not have would make void all turns with a lower number.
    this.#unsureTurnId = this.#answer?.of.turnId ?? this.#unsureTurnId;
    this.#turnId = undefined;
    this.#step = 0;
    this.#endedCalls.clear();
    this.#endedTurnId = undefined;
    this.#leftTurnId = undefined;
    this.#answer = undefined;
  }
}

/** One attempt of one model call. */
class Answer {
  readonly of: Pick<OfAnswer, 'turnId' | 'step' | 'attempt' | 'messageId'>;
  readonly #heard = new Map<string, Heard>();
  /** Keys of the events that were passed on and are passed on only once. */
  readonly #said = new Set<string>();
  #isWhole = true;
  #failure: ModelCallFailed | undefined;

  constructor({ turnId, step, attempt, messageId }: OfAnswer) {
    this.of = { turnId, step, attempt, messageId };
  }

  isOf({ turnId, step, attempt }: OfAnswer): boolean {
    return turnId === this.of.turnId && step === this.of.step && attempt === this.of.attempt;
  }

  /** Whether this attempt supersedes the one that the event belongs to. */
  replaces({ turnId, step, attempt }: OfAnswer): boolean {
    if (turnId !== this.of.turnId) return isEarlierTurn(turnId, this.of.turnId);
    return step < this.of.step || (step === this.of.step && attempt < this.of.attempt);
  }

  endOf(event: Piece): number {
    return this.#heard.get(keyOf(event))?.end ?? 0;
  }

  take(event: OfAnswer): LiveEvent | undefined {
    if (isPiece(event)) return this.#takePiece(event);
    switch (event.type) {
      case 'model_call_failed':
        this.#failure = event;
        return this.#once(event.type, event);
      case 'model_call_started':
        return this.#once(event.type, event);
      case 'provider_call_started':
        return this.#once(`${event.type} ${event.providerCallId}`, event);
      default:
        return event;
    }
  }

  shown(): StreamedAnswer {
    const heard = [...this.#heard.values()];
    const textOf = (type: Piece['type']): string =>
      heard.find(({ event }) => event.type === type)?.text ?? '';
    const calls = heard.flatMap(({ event, text }) =>
      event.type === 'tool_arguments_delta'
        ? [{ index: event.index, ...nameOf(event), argumentsJson: text }]
        : [],
    );
    return {
      ...this.of,
      text: textOf('text_delta'),
      reasoning: textOf('reasoning_delta'),
      calls: calls.sort((left, right) => left.index - right.index),
      isWhole: this.#isWhole,
      ...(this.#failure === undefined ? {} : { failure: failureIn(this.#failure) }),
    };
  }

  #once(what: string, event: LiveEvent): LiveEvent | undefined {
    if (this.#said.has(what)) return undefined;
    this.#said.add(what);
    return event;
  }

  #takePiece(event: Piece): LiveEvent | undefined {
    const key = keyOf(event);
    const heard = this.#heard.get(key) ?? { event, end: 0, text: '' };
    const known = heard.end - event.offset;
    if (known > 0 && known >= event.text.length) return undefined;
    this.#heard.set(key, heard);
    if (known < 0) this.#isWhole = false;
    const text = known > 0 ? event.text.slice(known) : event.text;
    heard.text += text;
    heard.end = event.offset + event.text.length;
    return known > 0 ? { ...event, offset: event.offset + known, text } : event;
  }
}

function isOfTool(
  event: LiveEvent,
): event is Extract<LiveEvent, { type: 'tool_call_started' | 'tool_progress' }> {
  return event.type === 'tool_call_started' || event.type === 'tool_progress';
}

function isPiece(event: OfAnswer): event is Piece {
  return 'offset' in event && 'text' in event;
}

/** Key of the stream that the piece belongs to; each stream counts its own characters. */
function keyOf(event: Piece): string {
  if (event.type === 'provider_call_progress')
    return `${event.type} ${event.providerCallId} ${event.status}`;
  return event.type === 'tool_arguments_delta' ? `${event.type} ${event.index}` : event.type;
}

function nameOf({ name }: { readonly name?: string }): { readonly name?: string } {
  return name === undefined ? {} : { name };
}

function failureIn({
  code,
  message,
  httpStatus,
  nextInMs,
}: ModelCallFailed): NonNullable<StreamedAnswer['failure']> {
  return {
    ...{ code, message },
    ...(httpStatus === undefined ? {} : { httpStatus }),
    ...(nextInMs === undefined ? {} : { nextInMs }),
  };
}
