/** Logs in a worker that Temporal is unavailable: once when it stops answering, and once when it answers again. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../../define/tool/context.js';

const PING_MS = 2_000;
/** Missed pings before the warning. A single one may be due to a busy machine. */
const MISSED = 2;

export interface ServerWatchDeps {
  /** Resolves when the server answers; has its own deadline. */
  readonly ping: () => Promise<unknown>;
  readonly address: string;
  readonly logger: Pick<Logger, 'info' | 'warn'>;
  /** @defaultValue 2000 */
  readonly everyMs?: number;
}

export class ServerWatch {
  readonly #deps: Required<ServerWatchDeps>;
  readonly #stopping = new AbortController();
  #missed = 0;
  #looking: Promise<void> | undefined;

  constructor(deps: ServerWatchDeps) {
    this.#deps = { everyMs: PING_MS, ...deps };
  }

  /** Does not keep the process alive. */
  start(): void {
    const { signal } = this.#stopping;
    const { everyMs } = this.#deps;
    this.#looking = (async () => {
      while (!signal.aborted) {
        await this.check();
        await sleep(everyMs, undefined, { signal, ref: false }).catch(() => undefined);
      }
    })();
  }

  /** Resolves when no check is in progress: then the connection that it uses may be closed. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#looking;
  }

  /** Makes one check. Never throws. */
  async check(): Promise<void> {
    const { ping, address, logger } = this.#deps;
    try {
      await ping();
      if (this.#stopping.signal.aborted) return;
      if (this.#missed >= MISSED) logger.info(`Temporal at ${address} answers again`, { address });
      this.#missed = 0;
    } catch (error) {
      if (this.#stopping.signal.aborted) return;
      this.#missed += 1;
      if (this.#missed !== MISSED) return;
      const reason = error instanceof Error ? error.message : String(error);
      logger.warn(
        `Temporal at ${address} does not answer. Conversations wait; this worker continues by itself as soon as it does`,
        { address, reason },
      );
    }
  }
}
