/** Lists the agents that accept conversations, as their workers published them. */
import type { Router } from 'express';
import type { AppDeps } from '../request/deps.js';
import { parseQuery } from '../request/parse.js';
import { addRoute } from '../request/router.js';
import { NoQuerySchema } from '../request/schemas.js';

export function addAgentRoutes(router: Router, deps: AppDeps): void {
  addRoute(router, '/v1/agents', {
    get: async (request, response) => {
      parseQuery(NoQuerySchema, request);
      const agents = await (deps.agents?.() ?? deps.client.agents());
      response.json({ agents });
    },
  });
}
