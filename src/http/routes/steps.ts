/** The client calls of a step together: read as one continuation, answered by one ordered, complete set of results. */
import type { Request, Router } from 'express';
import { actorOf } from '../identity/callers.js';
import type { AppDeps } from '../request/deps.js';
import { parseBody, pathParameter, requestIdOf } from '../request/parse.js';
import { type Answered, answerWith } from '../request/problem.js';
import { addRoute } from '../request/router.js';
import { conversationOf } from '../request/tenants.js';
import { ToolResultsSchema } from '../schemas/bodies.js';

export function addStepRoutes(router: Router, deps: AppDeps): void {
  addRoute(router, '/v1/conversations/:id/steps/:stepId/tool-calls', {
    get: async (request, response) => {
      const stepId = pathParameter(request, 'stepId');
      response.json(await conversationOf(deps, request).step(stepId));
    },
  });
  addRoute(router, '/v1/conversations/:id/steps/:stepId/tool-results', {
    post: async (request, response) => {
      // Stamped first: lateness is judged by when the results arrived.
      const receivedAt = new Date().toISOString();
      await answerWith(response, () => submit(deps, request, receivedAt));
    },
  });
}

async function submit(deps: AppDeps, request: Request, receivedAt: string): Promise<Answered> {
  const body = parseBody(ToolResultsSchema, request);
  const stepId = pathParameter(request, 'stepId');
  const outcome = await conversationOf(deps, request).resolveBatch(stepId, body.results, {
    receivedAt,
    actor: actorOf(request, body.actor),
    ...requestIdOf(request, body.requestId),
  });
  return { httpStatus: outcome.httpStatus, shown: { ...outcome, httpStatus: undefined } };
}
