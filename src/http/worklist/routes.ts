/** The worklist: waiting calls across the conversations of a tenant, and answers to many of them at once. */
import type { Request, Router } from 'express';
import { ConversationError, invalidField } from '../../client/api/errors.js';
import { readWorklist } from '../../client/reading/worklist.js';
import type { WorklistPage } from '../../protocol/log/worklist.js';
import type { AppDeps } from '../request/deps.js';
import { listedActor } from '../request/listed-actor.js';
import { parseQuery } from '../request/parse.js';
import { addRoute } from '../request/router.js';
import { tenantOf } from '../request/tenants.js';
import { WorklistQuerySchema } from '../schemas/queries.js';
import { resolveMany } from './bulk.js';

export function addWorklistRoutes(router: Router, deps: AppDeps): void {
  addRoute(router, '/v1/worklist', {
    get: async (request, response) => {
      response.json(await page(deps, request));
    },
  });
  addRoute(router, '/v1/worklist/resolutions', {
    post: async (request, response) => {
      // Stamped first: lateness is judged by when the answers arrived, not by how long the others took.
      const receivedAt = new Date().toISOString();
      response.json({ results: await resolveMany(deps, request, receivedAt) });
    },
  });
}

async function page(deps: AppDeps, request: Request): Promise<WorklistPage> {
  const { as, role, mine, tenant: _named, ...filters } = parseQuery(WorklistQuerySchema, request);
  const actor = listedActor(request, { id: as, role, names: ['as', 'role'] });
  const tenant = tenantOf(request);
  try {
    return await readWorklist(
      deps.reader,
      { tenant, actor },
      { ...filters, mine: mine !== 'false' },
    );
  } catch (error) {
    const isCursor = ConversationError.isInstance(error) && error.problems?.[0]?.path === '/cursor';
    throw isCursor ? invalidField('?cursor', 'must be the nextCursor of an earlier page') : error;
  }
}
