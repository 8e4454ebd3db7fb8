/** The view of operators; and, under `colloquy dev`, the kill of its worker. */
import type { Router } from 'express';
import { ConversationError } from '../../client/api/errors.js';
import type { OperationsAnswer, WorkerKilled } from '../../protocol/log/operations.js';
import type { AppDeps } from '../request/deps.js';
import { parseBody, requestIdOf } from '../request/parse.js';
import { addRoute } from '../request/router.js';
import { tenantOf } from '../request/tenants.js';
import { NoBodySchema } from '../schemas/bodies.js';

export function addOperationRoutes(router: Router, deps: AppDeps): void {
  const { operations, killWorker } = deps;
  const kills = new Kills();
  addRoute(router, '/v1/operations', {
    get: async (request, response) => {
      const tenant = tenantOf(request);
      if (operations === undefined)
        throw new ConversationError('not_found', 'This API has no view of operators');
      const seen = await operations.look(tenant);
      const killsWorkers = killWorker !== undefined;
      response.json({ ...seen, killsWorkers } satisfies OperationsAnswer);
    },
  });
  addRoute(router, '/v1/operations/kill-worker', {
    post: async (request, response) => {
      parseBody(NoBodySchema, request);
      tenantOf(request);
      if (killWorker === undefined)
        throw new ConversationError('not_found', 'Workers are killed under "colloquy dev" only');
      const { requestId } = requestIdOf(request, undefined);
      response.status(202).json(await kills.of(requestId, killWorker));
    },
  });
}

/** Kills whose keys are known. */
const MAX_KEYS = 100;

/** Requests that come during a kill share it; so does a later one under the key of one of them. */
class Kills {
  readonly #byKey = new Map<string, Promise<WorkerKilled>>();
  #running: Promise<WorkerKilled> | undefined;

  async of(key: string | undefined, kill: () => Promise<WorkerKilled>): Promise<WorkerKilled> {
    const known = key === undefined ? undefined : this.#byKey.get(key);
    if (known !== undefined) return await known;
    this.#running ??= kill().finally(() => {
      this.#running = undefined;
    });
    const killed = this.#running;
    if (key !== undefined) {
      this.#byKey.set(key, killed);
      const [oldest] = this.#byKey.keys();
      if (oldest !== undefined && this.#byKey.size > MAX_KEYS) this.#byKey.delete(oldest);
      // A kill that failed may be tried again.
      killed.catch(() => this.#byKey.delete(key));
    }
    return await killed;
  }
}
