/** Routes about the service: liveness, readiness (its dependencies are available), and the agents that it serves. */
import type { Router } from 'express';
import { otherStoreText } from '../../client/workers/workers-elsewhere.js';
import { type Readiness, readinessOf } from '../../net/readiness.js';
import { DEFAULT_TENANT } from '../../protocol/values/ids.js';
import type { AppDeps, HealthCheck } from '../request/deps.js';
import { parseQuery } from '../request/parse.js';
import { addRoute } from '../request/router.js';
import type { OpenStreams } from '../request/streams.js';
import { NoQuerySchema } from '../schemas/queries.js';

/** No identity is configured: every caller that reaches the port may act as any actor. */
export const AUTH_NOTICE = 'none: actors are not verified, serve on loopback only';

/** Requests are served meanwhile: a balancer learns it before the port closes. */
const DRAINING: Readiness = {
  status: 'not_ready',
  checks: { api: 'draining: the process stops' },
};

export function addHealthRoutes(router: Router, deps: AppDeps, life: OpenStreams): void {
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
      const readiness = life.isDraining ? DRAINING : await readinessOf(checks);
      response.status(readiness.status === 'ready' ? 200 : 503).json(readiness);
    },
  });
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
