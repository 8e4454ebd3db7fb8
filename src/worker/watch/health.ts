/**
 * The health port of a worker. It is open from the start of the worker, before Temporal and the store answer, until
 * the last running call has ended: a worker that starts or drains is alive, and not ready.
 */
import {
  type ProbeAddress,
  ProbePortUnavailable,
  type ProbeServer,
  serveProbes,
} from '../../net/probe-server.js';
import { type Readiness, type ReadinessChecks, readinessOf } from '../../net/readiness.js';

const STARTING: Readiness = { status: 'not_ready', checks: { worker: 'starting' } };
const DRAINING: Readiness = {
  status: 'not_ready',
  checks: { worker: 'draining: running calls end, and no new work is taken' },
};

/** `/healthz` and `/readyz` of one worker; without an address they are not served. */
export class WorkerHealth {
  #server: ProbeServer | undefined;
  #readiness: () => Promise<Readiness> = async () => STARTING;
  #isDraining = false;

  /** @throws {ProbePortUnavailable} */
  static async open(address: ProbeAddress | undefined): Promise<WorkerHealth> {
    const health = new WorkerHealth();
    if (address === undefined) return health;
    const alive = { status: 200, body: JSON.stringify({ status: 'ok' }) };
    health.#server = await serveProbes(
      {
        '/healthz': async () => alive,
        '/readyz': async () => {
          const readiness = await health.readiness();
          const status = readiness.status === 'ready' ? 200 : 503;
          return { status, body: JSON.stringify(readiness) };
        },
      },
      address,
    ).catch((error: unknown) => {
      if (!(error instanceof ProbePortUnavailable)) throw error;
      const text = `The health port: ${error.message}. Choose another: COLLOQUY_HEALTH_PORT, or the option health`;
      throw new ProbePortUnavailable(text, { cause: error });
    });
    return health;
  }

  /** Where it is served; undefined if it is not. */
  get url(): string | undefined {
    return this.#server?.url;
  }

  /** From now on the checks say whether the worker is ready. */
  runs(checks: ReadinessChecks): void {
    this.#readiness = () => readinessOf(checks);
  }

  /** From now on the worker is not ready. To be called before it stops to poll. */
  drains(): void {
    this.#isDraining = true;
    this.#readiness = async () => DRAINING;
  }

  async readiness(): Promise<Readiness> {
    const readiness = await this.#readiness();
    // The drain may have begun during the checks.
    return this.#isDraining ? DRAINING : readiness;
  }

  async close(): Promise<void> {
    await this.#server?.close();
  }
}
