/** One line on a terminal that says how far long work has come. Nothing is written anywhere else. */
import { clearLine, cursorTo } from 'node:readline';

type Stream = NodeJS.WritableStream & { readonly isTTY?: boolean };

/** A line is written at most so often. */
const EVERY_MS = 100;

export class Progress {
  /** Undefined where nothing is written. */
  readonly #stream: Stream | undefined;
  readonly #what: string;
  #done = 0;
  #total: number | undefined;
  #writtenAt = Number.NEGATIVE_INFINITY;

  /** @param what The things that are counted, such as "conversations". */
  constructor(what: string, stream: Stream | undefined) {
    this.#what = what;
    this.#stream = stream?.isTTY === true ? stream : undefined;
  }

  get isShown(): boolean {
    return this.#stream !== undefined;
  }

  /** So many are done. */
  at(done: number, total = this.#total): void {
    this.#done = done;
    this.#total = total;
    const now = performance.now();
    const isLast = done === total;
    if (!isLast && now - this.#writtenAt < EVERY_MS) return;
    this.#writtenAt = now;
    this.end();
    this.#stream?.write(`${done}${total === undefined ? '' : ` / ${total}`} ${this.#what}`);
  }

  /** One more is done. */
  step(): void {
    this.at(this.#done + 1);
  }

  /** Removes the line; before anything else is written, and at the end. */
  end(): void {
    if (this.#stream === undefined) return;
    clearLine(this.#stream, 0);
    cursorTo(this.#stream, 0);
  }
}
