/** Forks of conversations, and recorded turns that are played again. */
import type { Request, Router } from 'express';
import { ConversationError } from '../../client/api/errors.js';
import { actorOf, identityOf, requireRight } from '../identity/callers.js';
import type { AppDeps } from '../request/deps.js';
import { parseBody, parseQuery, pathParameter, readPage, requestIdOf } from '../request/parse.js';
import { addRoute } from '../request/router.js';
import { addressOf, conversationOf } from '../request/tenants.js';
import { NoBodySchema } from '../schemas/bodies.js';
import { ForkSchema, WhatIfSchema, WhatIfsQuerySchema } from '../schemas/forks.js';

export function addForkRoutes(router: Router, deps: AppDeps): void {
  addRoute(router, '/v1/conversations/:id/fork', {
    post: async (request, response) => {
      const { requestId: named, ...cut } = parseBody(ForkSchema, request);
      const origin = conversationOf(deps, request);
      requireFreeReader(request);
      const forked = await origin.fork({ ...cut, ...requestIdOf(request, named) });
      response.setHeader('Location', addressOf(request, forked.conversationId));
      response.status(forked.status === 'forked' ? 201 : 202).json(forked);
    },
  });
  addRoute(router, '/v1/conversations/:id/what-if', {
    get: async (request, response) => {
      const { limit, cursor } = parseQuery(WhatIfsQuerySchema, request);
      const conversation = conversationOf(deps, request);
      response.json(await readPage(() => conversation.whatIfs({ limit, cursor })));
    },
    post: async (request, response) => {
      const { requestId: named, actor, ...asked } = parseBody(WhatIfSchema, request);
      const conversation = conversationOf(deps, request);
      // The report has what the turn has read and said.
      requireRight(request, 'read');
      const given = { ...asked, ...requestIdOf(request, named), actor: actorOf(request, actor) };
      const { result: _waits, ...begun } = await conversation.whatIf(given);
      const { whatIfId } = begun;
      response.setHeader('Location', addressOf(request, conversation.id, `/what-if/${whatIfId}`));
      response.status(202).json(begun);
    },
  });
  addRoute(router, '/v1/conversations/:id/what-if/:whatIfId', {
    get: async (request, response) => {
      const whatIfId = pathParameter(request, 'whatIfId');
      response.json(await conversationOf(deps, request).whatIfReport(whatIfId));
    },
  });
  addRoute(router, '/v1/conversations/:id/what-if/:whatIfId/cancel', {
    post: async (request, response) => {
      parseBody(NoBodySchema, request);
      const whatIfId = pathParameter(request, 'whatIfId');
      response.json(await conversationOf(deps, request).cancelWhatIf(whatIfId));
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
