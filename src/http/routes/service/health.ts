/** Routes about the service: liveness, readiness (its dependencies are available), and the agents that it serves. */
import type { Router } from 'express';
import { otherStoreText } from '../../../client/workers/workers-elsewhere.js';
import { type Readiness, readinessOf } from '../../../net/readiness.js';
import { DEFAULT_TENANT } from '../../../protocol/values/ids.js';
import { isForDevelopment } from '../../identity/identity.js';
import type { AppDeps, HealthCheck } from '../../request/deps.js';
import { addRoute } from '../../request/router.js';
import type { OpenStreams } from '../../request/streams.js';
import { tenantOf } from '../../request/tenants.js';

const DEVELOPMENT = 'development: actors are not verified, serve on loopback only';
const CONFIGURED = 'identities are checked';

/** Requests are served meanwhile: a balancer learns it before the port closes. */
const DRAINING: Readiness = {
  status: 'not_ready',
  checks: { api: 'draining: the process stops' },
};

/**
 * Both are open to every caller. With an identity that is not for development, reasons of failures go to the log alone:
 * they may name hosts and databases.
 */
export function addHealthRoutes(router: Router, deps: AppDeps, life: OpenStreams): void {
  const showsReasons = isForDevelopment(deps.identify);
  let logged = '';
  /** Everyone may ask, so requests share the checks that are under way. */
  let running: Promise<Readiness> | undefined;
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
  const readinessNow = async (): Promise<Readiness> => {
    running ??= readinessOf(checks).finally(() => {
      running = undefined;
    });
    return await running;
  };
  addRoute(router, '/healthz', {
    get: (_request, response) => {
      response.json({ status: 'ok', auth: showsReasons ? DEVELOPMENT : CONFIGURED });
    },
  });
  addRoute(router, '/readyz', {
    get: async (_request, response) => {
      const readiness = life.isDraining ? DRAINING : await readinessNow();
      const reasons = JSON.stringify(readiness.checks);
      // A probe asks every few seconds.
      if (readiness.status !== 'ready' && reasons !== logged)
        deps.log?.warn({ checks: readiness.checks }, 'not ready');
      logged = reasons;
      const shown = showsReasons ? readiness : withoutReasons(readiness);
      response.status(readiness.status === 'ready' ? 200 : 503).json(shown);
    },
  });
}

export function addAgentRoutes(router: Router, deps: AppDeps): void {
  addRoute(router, '/v1/agents', {
    get: async (request, response) => {
      const tenant = tenantOf(request);
      const agents = await (deps.agents?.({ tenant }) ?? deps.client.agents({ tenant }));
      response.json({ agents });
    },
  });
}

function withoutReasons(readiness: Readiness): Readiness {
  if (readiness === DRAINING) return readiness;
  const shown = Object.entries(readiness.checks).map(
    ([name, result]) => [name, result === 'ok' ? 'ok' : 'failed'] as const,
  );
  return { ...readiness, checks: Object.fromEntries(shown) };
}
