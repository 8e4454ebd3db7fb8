/** Routes about the service: liveness, readiness (its dependencies are available), and the agents that it serves. */
import type { Router } from 'express';
import { messageOf } from '../../client/temporal/errors.js';
import { orLate } from '../../client/temporal/waiting.js';
import { otherStoreText } from '../../client/workers/workers-elsewhere.js';
import { DEFAULT_TENANT } from '../../protocol/values/ids.js';
import type { AppDeps, HealthCheck } from '../request/deps.js';
import { parseQuery } from '../request/parse.js';
import { addRoute } from '../request/router.js';
import { NoQuerySchema } from '../schemas/queries.js';

/** No identity is configured: every caller that reaches the port may act as any actor. */
export const AUTH_NOTICE = 'none: actors are not verified, serve on loopback only';

/** Milliseconds after which a check that hangs has failed. */
const CHECK_DEADLINE_MS = 2_000;

export function addHealthRoutes(router: Router, deps: AppDeps): void {
  addRoute(router, '/healthz', {
    get: (_request, response) => {
      response.json({ status: 'ok', auth: AUTH_NOTICE });
    },
  });
  addRoute(router, '/readyz', {
    get: async (_request, response) => {
      const checks: Readonly<Record<string, HealthCheck>> = {
        temporal: async () => {
          await deps.client.ping();
        },
        store: async () => {
          await deps.conversations.list({ tenant: DEFAULT_TENANT, limit: 1 });
          await deps.conversations.checkWritable();
        },
        same_store: async () => {
          const elsewhere = await deps.client.workersElsewhere();
          if (elsewhere.length > 0) throw new Error(otherStoreText(elsewhere));
        },
        ...deps.health,
      };
      const results = await Promise.all(
        Object.entries(checks).map(async ([name, check]) => [name, await resultOf(check)] as const),
      );
      const ready = results.every(([, result]) => result === 'ok');
      response
        .status(ready ? 200 : 503)
        .json({ status: ready ? 'ready' : 'not_ready', checks: Object.fromEntries(results) });
    },
  });
}

async function resultOf(check: HealthCheck): Promise<string> {
  const answer = check().then(
    () => 'ok',
    (error: unknown) => messageOf(error),
  );
  return await orLate(CHECK_DEADLINE_MS, answer, () => `no answer in ${CHECK_DEADLINE_MS} ms`);
}

export function addAgentRoutes(router: Router, deps: AppDeps): void {
  addRoute(router, '/v1/agents', {
    get: async (request, response) => {
      parseQuery(NoQuerySchema, request);
      const agents = await (deps.agents?.() ?? deps.client.agents());
      response.json({ agents });
    },
  });
}
