/** The agents that may be talked to, as their workers published them. */
import type { Router } from 'express';
import { NoQuerySchema } from '../../protocol/http.schema.js';
import type { AppDeps } from '../deps.js';
import { parseQuery } from '../parse.js';
import { addRoute } from '../router.js';

export function addAgentRoutes(router: Router, deps: AppDeps): void {
  addRoute(router, '/v1/agents', {
    get: async (request, response) => {
      parseQuery(NoQuerySchema, request);
      const agents = await (deps.agents?.() ?? deps.client.agents());
      response.json({ agents });
    },
  });
}
