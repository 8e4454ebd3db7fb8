/** Remembered decisions of a conversation: list, revoke. */
import type { Router } from 'express';
import { actorOf } from '../identity/callers.js';
import type { AppDeps } from '../request/deps.js';
import { parseBody, pathParameter, requestIdOf } from '../request/parse.js';
import { addRoute } from '../request/router.js';
import { conversationOf } from '../request/tenants.js';
import { RevokeRuleSchema } from '../schemas/bodies.js';

export function addRuleRoutes(router: Router, deps: AppDeps): void {
  addRoute(router, '/v1/conversations/:id/rules', {
    get: async (request, response) => {
      const { rules = [], seq } = await conversationOf(deps, request).snapshot();
      response.json({ rules, seq });
    },
  });
  addRoute(router, '/v1/conversations/:id/rules/:ruleId', {
    delete: async (request, response) => {
      const body = parseBody(RevokeRuleSchema, request);
      const ruleId = pathParameter(request, 'ruleId');
      const reply = await conversationOf(deps, request).revokeRule(ruleId, {
        ...requestIdOf(request, body.requestId),
        actor: actorOf(request, body.actor),
      });
      response.json({ revoked: true, ...reply });
    },
  });
}
