/**
 * The arguments of visible calls that are being written in one space, as far as this process has heard of them.
 *
 * W1  Texts only grow, and have no gap: a piece behind missing text is dropped, since the whole text comes again.
 * W2  A higher attempt of a model call replaces the text of a lower one, and its end removes it.
 * W3  Bounded: a new text displaces the oldest, and one that no piece reaches any more is forgotten.
 */
import type { StreamedArguments } from '../../protocol/spaces/spaces.js';
import type { SpaceWriting } from '../../store/ports/live.js';

const MAX_TEXTS = 50;
/** A model that writes for so long without a piece has failed, or its worker is gone. */
const FORGET_MS = 30_000;

interface Text extends Omit<StreamedArguments, 'offset'> {
  /** The model call that writes it. */
  readonly answer: string;
  readonly atMs: number;
}

export class WrittenTexts {
  readonly #texts = new Map<string, Text>();
  readonly #now: () => number;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Returns whether readers see more than before. */
  take(writing: SpaceWriting): boolean {
    this.#forget();
    if ('piece' in writing) return this.#take(writing.answer, writing.piece);
    const { answer, attempt } = writing;
    for (const [key, text] of this.#texts)
      if (text.answer === answer && text.attempt <= attempt) this.#texts.delete(key);
    return false;
  }

  /** The texts, oldest first. */
  all(): readonly Omit<StreamedArguments, 'offset'>[] {
    this.#forget();
    return [...this.#texts.values()].map(({ answer: _answer, atMs: _atMs, ...text }) => text);
  }

  #take(answer: string, { offset, ...piece }: StreamedArguments): boolean {
    const before = this.#texts.get(piece.id);
    if (before !== undefined && before.attempt > piece.attempt) return false;
    const known = before?.attempt === piece.attempt ? before : undefined;
    const length = known?.text.length ?? 0;
    if (offset > length) return false;
    const text = (known?.text ?? '') + piece.text.slice(length - offset);
    const { toolCallId } = known ?? {};
    this.#texts.set(piece.id, {
      ...(toolCallId === undefined ? {} : { toolCallId }),
      ...piece,
      ...{ text, answer, atMs: this.#now() },
    });
    const [oldest] = this.#texts.keys();
    if (this.#texts.size > MAX_TEXTS && oldest !== undefined) this.#texts.delete(oldest);
    return text.length > length || known === undefined;
  }

  #forget(): void {
    const before = this.#now() - FORGET_MS;
    for (const [key, { atMs }] of this.#texts) if (atMs < before) this.#texts.delete(key);
  }
}

/** One reader's place in these texts: each text comes once, in as few pieces as the reader takes. */
export class WrittenPlace {
  #taken = new Map<string, { readonly attempt: number; readonly chars: number }>();

  /** The pieces that the reader does not have. */
  news(texts: ReturnType<WrittenTexts['all']>): readonly StreamedArguments[] {
    const taken = new Map<string, { readonly attempt: number; readonly chars: number }>();
    const news = texts.flatMap(({ text, ...of }) => {
      const before = this.#taken.get(of.id);
      const isSame = before?.attempt === of.attempt;
      const offset = isSame ? before.chars : 0;
      taken.set(of.id, { attempt: of.attempt, chars: text.length });
      return isSame && offset >= text.length ? [] : [{ ...of, offset, text: text.slice(offset) }];
    });
    this.#taken = taken;
    return news;
  }
}
