/** Counts works that go on at once, and waits for the next one that ends. */
export class InFlight {
  #running = 0;
  #ended = 0;
  #sum = 0;
  readonly #failures: unknown[] = [];
  #onEnd: () => void = () => undefined;

  get running(): number {
    return this.#running;
  }

  /** Works that have ended so far. */
  get ended(): number {
    return this.#ended;
  }

  get hasFailed(): boolean {
    return this.#failures.length > 0;
  }

  add(work: Promise<number>): void {
    this.#running += 1;
    void work
      .then(
        (count) => {
          this.#sum += count;
        },
        (error: unknown) => {
          this.#failures.push(error);
        },
      )
      .then(() => {
        this.#running -= 1;
        this.#ended += 1;
        this.#onEnd();
      });
  }

  /** Resolves once another number than `seen` has ended, or after a while. Does not keep the process alive. */
  async next(seen: number, withinMs: number): Promise<void> {
    if (this.#ended !== seen) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, withinMs);
      timer.unref();
      this.#onEnd = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** Waits for all; never rejects. */
  async settled(): Promise<void> {
    while (this.#running > 0)
      await new Promise<void>((resolve) => {
        this.#onEnd = resolve;
      });
  }

  /** The sum of the results, once all have ended. @throws the first failure */
  async sum(): Promise<number> {
    await this.settled();
    if (this.hasFailed) throw this.#failures[0];
    return this.#sum;
  }
}
