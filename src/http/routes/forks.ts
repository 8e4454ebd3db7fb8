/** Forks of conversations. */
import type { Request, Router } from 'express';
import { ConversationError } from '../../client/api/errors.js';
import { identityOf, requireRight } from '../identity/callers.js';
import type { AppDeps } from '../request/deps.js';
import { parseBody, parseQuery, requestIdOf } from '../request/parse.js';
import { addRoute } from '../request/router.js';
import { addressOf, conversationOf } from '../request/tenants.js';
import { ForkSchema } from '../schemas/forks.js';
import { ConversationQuerySchema } from '../schemas/queries.js';

export function addForkRoutes(router: Router, deps: AppDeps): void {
  addRoute(router, '/v1/conversations/:id/fork', {
    post: async (request, response) => {
      parseQuery(ConversationQuerySchema, request);
      const { requestId: named, ...cut } = parseBody(ForkSchema, request);
      const origin = conversationOf(deps, request);
      requireFreeReader(request);
      const forked = await origin.fork({ ...cut, ...requestIdOf(request, named) });
      response.setHeader('Location', addressOf(request, forked.conversationId));
      response.status(forked.status === 'forked' ? 201 : 202).json(forked);
    },
  });
}

/**
 * The fork has the messages of the origin, and is another conversation.
 * @throws {ConversationError} forbidden for callers who may not read, or may use one conversation only
 */
function requireFreeReader(request: Request): void {
  requireRight(request, 'read');
  if (identityOf(request).conversation === undefined) return;
  const message = 'The caller may use one conversation only, and a fork is another one';
  throw new ConversationError('forbidden', message);
}
