/** Functions of a page that are called with what happens. */

/** An error of one reaches neither the caller nor the other functions: it is an uncaught error of the page. */
export class Listeners<Given extends readonly unknown[]> {
  readonly #listeners = new Set<(...given: Given) => void>();

  /** Returns how to end that. A function that is added again is called once. */
  add(listener: (...given: Given) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  call(...given: Given): void {
    for (const listener of this.#listeners)
      try {
        listener(...given);
      } catch (error) {
        report(error);
      }
  }
}

/** Node has no `reportError`; an error of a microtask is uncaught there, too. */
function report(error: unknown): void {
  const { reportError } = globalThis as { readonly reportError?: (error: unknown) => void };
  if (reportError === undefined)
    queueMicrotask(() => {
      throw error;
    });
  else reportError(error);
}
