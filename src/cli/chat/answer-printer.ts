/**
 * Prints a conversation as it goes on: the model's text as it is written, and a line for each call, result and question.
 * Text of models and tools never moves the cursor.
 */
import type { AssistantPart, UserPart } from '../../protocol/conversation/messages.js';
import type { CanonicalEvent } from '../../protocol/log/events.js';
import type { LiveEvent } from '../../protocol/log/live-events.js';
import { LiveView } from '../../protocol/log/live-view.js';
import { lines, oneLine, shortJson } from '../conversations/text.js';

export class AnswerPrinter {
  readonly #write: (text: string) => void;
  /** Request ids of messages that stand in the terminal, because they were typed there. */
  readonly #typed = new Set<string>();
  readonly #view = new LiveView();
  /** The printed text of the answer that is being written. */
  #answer: { readonly id: string; text: string } | undefined;
  /** Whether its last line may be continued. */
  #isOpen = false;

  constructor(write: (text: string) => void) {
    this.#write = write;
  }

  typed(requestId: string): void {
    this.#typed.add(requestId);
  }

  live(event: LiveEvent): void {
    this.#view.take(event);
    const { answer } = this.#view;
    if (answer === undefined || answer.text === '' || !answer.isWhole) return;
    const id = `${answer.messageId} ${answer.attempt}`;
    if (this.#answer?.id !== id) this.#begin(id);
    this.#continue(lines(answer.text));
  }

  event(event: CanonicalEvent): void {
    this.#view.note(event);
    if (event.type === 'assistant_message') this.#message(lines(textOf(event.parts)));
    else
      for (const line of this.#linesOf(event)) {
        this.#endLine();
        this.#write(`${line}\n`);
      }
  }

  /** The streamed text is a beginning of the message, unless its attempt was given up. */
  #message(text: string): void {
    if (this.#answer === undefined || !text.startsWith(this.#answer.text)) this.#begin('');
    this.#continue(text);
    this.#endLine();
    this.#answer = undefined;
  }

  #begin(id: string): void {
    this.#endLine();
    this.#answer = { id, text: '' };
  }

  #continue(text: string): void {
    const answer = this.#answer;
    if (answer === undefined || !text.startsWith(answer.text)) return;
    const added = text.slice(answer.text.length);
    if (added === '') return;
    this.#write(added);
    this.#isOpen = true;
    answer.text = text;
  }

  #endLine(): void {
    if (this.#isOpen) this.#write('\n');
    this.#isOpen = false;
  }

  #linesOf(event: CanonicalEvent): readonly string[] {
    switch (event.type) {
      case 'user_message':
        return this.#typed.delete(event.requestId)
          ? []
          : [`${oneLine(event.actor.id, 40)}: ${lines(textOf(event.parts))}`];
      case 'tool_call':
      case 'call_planned':
        return [`  calls ${oneLine(event.call.name)} ${shortJson(event.call.input)}`];
      case 'tool_result': {
        const { name } = event;
        const { envelope } = event.result;
        const said = envelope.ok
          ? shortJson(envelope.result)
          : `${oneLine(envelope.error.code, 40)}: ${oneLine(envelope.error.message)}`;
        return [`  ${oneLine(name)} returned ${said}`];
      }
      case 'turn_ended':
        return event.status === 'completed'
          ? []
          : [
              `  ${event.status}${event.error === undefined ? '' : `: ${oneLine(event.error.message)}`}`,
            ];
      case 'conversation_closed':
        return ['  closed'];
      default:
        return [];
    }
  }
}

function textOf(parts: readonly (AssistantPart | UserPart)[]): string {
  return parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('');
}
