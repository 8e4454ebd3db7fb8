/** Registers the handlers of updates and signals, and finds them by name for inputs that waited for the run's state. */
import { ApplicationFailure } from '@temporalio/common';
import {
  defineSignal,
  defineUpdate,
  setDefaultSignalHandler,
  setDefaultUpdateHandler,
  setHandler,
} from '@temporalio/workflow';

export type Take = (input: unknown) => unknown;

export class InputHandlers {
  readonly #updates = new Map<string, Take>();
  readonly #signals = new Map<string, Take>();
  #otherSignals: (name: string) => void = () => undefined;

  update(
    name: string,
    take: Take,
    options: { readonly description: string; readonly validator?: (input: unknown) => void },
  ): void {
    setHandler(defineUpdate<unknown, [unknown]>(name), take, options);
    this.#updates.set(name, take);
  }

  signal(name: string, take: (input: unknown) => void, description: string): void {
    setHandler(defineSignal<[unknown]>(name), take, { description });
    this.#signals.set(name, take);
  }

  /** Sets the handler of signals without one. Must be called last: inputs wait no longer. */
  others(take: (name: string) => void): void {
    // Without a default, the SDK would buffer unknown signals for a handler that never comes.
    setDefaultSignalHandler(take);
    setDefaultUpdateHandler(undefined);
    this.#otherSignals = take;
  }

  /** @throws {ApplicationFailure} the refusal of the handler, or that there is none */
  takeUpdate(name: string, input: unknown): unknown {
    const take = this.#updates.get(name);
    if (take === undefined)
      throw ApplicationFailure.nonRetryable(`No registered handler for update: ${name}`);
    return take(input);
  }

  takeSignal(name: string, input: unknown): void {
    const take = this.#signals.get(name);
    if (take === undefined) this.#otherSignals(name);
    else take(input);
  }
}
