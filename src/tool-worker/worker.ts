/**
 * A worker of external tools: reads the offers of calls, claims as many as it may run at a time, runs their handlers, and
 * sends the results. Needs the API's address, `fetch` and nothing else of Colloquy.
 */
import { Api } from './api.js';
import { Offers } from './offers.js';
import { type Settings, settingsOf, type UntypedOptions } from './options.js';
import { report, runCall } from './run-call.js';
import type { ToolContracts, ToolWorker, ToolWorkerOptions, UntypedContracts } from './types.js';

/**
 * Starts a worker at once; it runs until it is stopped, and reconnects for ever. Any number of workers, of any API
 * process, share the calls of a tool: each call has one holder at a time, and one result. A worker that is killed gives
 * its calls back when their leases end.
 * @throws {TypeError} naming the option that breaks a rule
 * @example
 * const worker = createToolWorker({
 *   url: 'https://agents.example', token,
 *   tools: { 'video.render': async (input, { signal }) => await render(input, signal) },
 * });
 * process.once('SIGTERM', () => void worker.stop());
 */
export function createToolWorker<Contracts extends ToolContracts = UntypedContracts>(
  options: ToolWorkerOptions<Contracts>,
): ToolWorker {
  // Handlers get the inputs of their own tool only.
  const untyped = options as unknown as UntypedOptions;
  const worker = new RunningWorker(settingsOf(untyped));
  const { signal } = untyped;
  const stop = (): void => void worker.stop({ drain: false });
  if (signal?.aborted === true) stop();
  else signal?.addEventListener('abort', stop, { once: true });
  return worker;
}

class RunningWorker implements ToolWorker {
  readonly stopped: Promise<void>;
  readonly #settings: Settings;
  readonly #api: Api;
  readonly #offers: Offers;
  /** By ref. */
  readonly #runs = new Map<string, Promise<void>>();
  readonly #draining = new AbortController();
  readonly #stopped = new AbortController();
  #resolveStopped: () => void = () => undefined;
  #reading: Promise<void>;

  constructor(settings: Settings) {
    this.#settings = settings;
    this.#api = new Api(settings);
    this.#offers = new Offers(this.#api, settings.tools.keys(), {
      change: () => this.#fill(),
      failure: (cause) => report(settings, 'stream', { cause }),
    });
    this.stopped = new Promise((resolve) => {
      this.#resolveStopped = resolve;
    });
    this.#reading = this.#offers.read(this.#draining.signal);
  }

  get running(): number {
    return this.#runs.size;
  }

  async stop({
    drain = true,
    timeoutMs,
  }: {
    readonly drain?: boolean;
    readonly timeoutMs?: number;
  } = {}): Promise<void> {
    this.#draining.abort();
    if (!drain) this.#stopped.abort();
    const timer =
      timeoutMs === undefined ? undefined : setTimeout(() => this.#stopped.abort(), timeoutMs);
    await Promise.all([this.#reading, ...this.#runs.values()]);
    clearTimeout(timer);
    this.#resolveStopped();
  }

  /** Takes offers while there are places. */
  #fill(): void {
    while (!this.#draining.signal.aborted && this.#runs.size < this.#settings.concurrency) {
      const offer = this.#offers.take((ref) => this.#runs.has(ref));
      if (offer === undefined) return;
      const parts = {
        ...{ api: this.#api, settings: this.#settings },
        ...{ stopped: this.#stopped.signal, draining: this.#draining.signal },
      };
      const run = runCall(parts, offer).then(() => {
        this.#runs.delete(offer.ref);
        this.#fill();
      });
      this.#runs.set(offer.ref, run);
    }
  }
}
