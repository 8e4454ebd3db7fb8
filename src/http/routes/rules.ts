/** Remembered decisions of a conversation: list, revoke. */
import type { Router } from 'express';
import { NoQuerySchema, RevokeRuleSchema } from '../../protocol/http.schema.js';
import type { AppDeps } from '../deps.js';
import { actorOf, keyOf, parseBody, parseQuery, pathParameter, requestIdOf } from '../parse.js';
import { addRoute } from '../router.js';

export function addRuleRoutes(router: Router, deps: AppDeps): void {
  addRoute(router, '/v1/conversations/:id/rules', {
    get: async (request, response) => {
      parseQuery(NoQuerySchema, request);
      const { conversationId } = keyOf(request);
      const { rules = [], seq } = await deps.client.conversation(conversationId).snapshot();
      response.json({ rules, seq });
    },
  });
  addRoute(router, '/v1/conversations/:id/rules/:ruleId', {
    delete: async (request, response) => {
      const body = parseBody(RevokeRuleSchema, request);
      const { conversationId } = keyOf(request);
      const ruleId = pathParameter(request, 'ruleId');
      const reply = await deps.client.conversation(conversationId).revokeRule(ruleId, {
        ...requestIdOf(request, body.requestId),
        actor: actorOf(body.actor),
      });
      response.json({ revoked: true, ...reply });
    },
  });
}
