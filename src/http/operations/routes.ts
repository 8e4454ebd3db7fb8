/** The view of operators; and, under `colloquy dev`, the kill of its worker. */
import type { Router } from 'express';
import { ConversationError } from '../../client/api/errors.js';
import type { OperationsAnswer, WorkerKilled } from '../../protocol/log/operations.js';
import type { AppDeps } from '../request/deps.js';
import { parseBody, parseQuery } from '../request/parse.js';
import { addRoute } from '../request/router.js';
import { tenantOf } from '../request/tenants.js';
import { NoBodySchema } from '../schemas/bodies.js';
import { ConversationQuerySchema } from '../schemas/queries.js';

export function addOperationRoutes(router: Router, deps: AppDeps): void {
  const { operations, killWorker } = deps;
  /** Those who ask while a worker is killed share the kill. */
  let killing: Promise<WorkerKilled> | undefined;
  addRoute(router, '/v1/operations', {
    get: async (request, response) => {
      parseQuery(ConversationQuerySchema, request);
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
      parseQuery(ConversationQuerySchema, request);
      parseBody(NoBodySchema, request);
      tenantOf(request);
      if (killWorker === undefined)
        throw new ConversationError('not_found', 'Workers are killed under "colloquy dev" only');
      killing ??= killWorker().finally(() => {
        killing = undefined;
      });
      response.status(202).json(await killing);
    },
  });
}
