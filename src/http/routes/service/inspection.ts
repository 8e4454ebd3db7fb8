/** Routes for people who look into a conversation: the requests of its model calls, and its run in Temporal. */
import type { Request, Router } from 'express';
import { ConversationError } from '../../../client/api/errors.js';
import { runAddress } from '../../../client/history/run.js';
import { identityOf } from '../../identity/callers.js';
import type { AppDeps } from '../../request/deps.js';
import { parseParameters, parseQuery } from '../../request/parse.js';
import { addRoute } from '../../request/router.js';
import { conversationOf } from '../../request/tenants.js';
import { ModelCallPathSchema, ModelCallQuerySchema } from '../../schemas/inspection.js';

export function addInspectionRoutes(router: Router, deps: AppDeps): void {
  addRoute(router, '/v1/conversations/:id/model-calls/:seq', {
    get: async (request, response) => {
      const { generation } = parseQuery(ModelCallQuerySchema, request);
      const conversation = conversationOf(deps, request);
      requireUnbound(request);
      const { seq } = parseParameters(ModelCallPathSchema, request);
      const at = generation === undefined ? {} : { generation };
      response.json(await conversation.modelCall(seq, at));
    },
  });
  addRoute(router, '/v1/conversations/:id/run', {
    get: async (request, response) => {
      const conversation = conversationOf(deps, request);
      requireUnbound(request);
      const run = await conversation.run();
      const url = deps.temporalUi === undefined ? undefined : runAddress(deps.temporalUi, run);
      response.json({ ...run, ...(url === undefined ? {} : { url }) });
    },
  });
}

/**
 * Tokens for one conversation are for its user, who does not read the instructions of the agent.
 * @throws {ConversationError} forbidden
 */
function requireUnbound(request: Request): void {
  if (identityOf(request).conversation === undefined) return;
  const message = 'The caller may use one conversation only, and not look behind it';
  throw new ConversationError('forbidden', message);
}
