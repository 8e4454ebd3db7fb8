/**
 * Claims a waiting call, and reports progress under the claim: the body is the verdict, the status is the verdict's.
 */
import type { Request, Router } from 'express';
import type { Duration } from '../../protocol/values/durations.js';
import { actorOf } from '../identity/callers.js';
import type { AppDeps } from '../request/deps.js';
import { parseBody, pathParameter, requestIdOf } from '../request/parse.js';
import { type Answered, answerWith } from '../request/problem.js';
import { addRoute } from '../request/router.js';
import { keyOf } from '../request/tenants.js';
import { ClaimSchema, ProgressSchema } from '../schemas/bodies.js';

export function addClaimRoutes(router: Router, deps: AppDeps): void {
  addRoute(router, '/v1/conversations/:id/tool-calls/:callId/claim', {
    post: async (request, response) => {
      const receivedAt = new Date().toISOString();
      await answerWith(response, () => claim(deps, request, receivedAt));
    },
  });
  addRoute(router, '/v1/conversations/:id/tool-calls/:callId/progress', {
    post: async (request, response) => {
      await answerWith(response, () => progress(deps, request));
    },
  });
}

async function claim(deps: AppDeps, request: Request, receivedAt: string): Promise<Answered> {
  const body = parseBody(ClaimSchema, request);
  const outcome = await deps.client.claim(targetOf(request), {
    lease: body.lease as Duration | undefined,
    claimId: body.claimId,
    actor: actorOf(request, body.actor),
    receivedAt,
    ...requestIdOf(request, body.requestId),
  });
  return { httpStatus: outcome.httpStatus, shown: { ...outcome, httpStatus: undefined } };
}

async function progress(deps: AppDeps, request: Request): Promise<Answered> {
  const { payload, claimId, actor } = parseBody(ProgressSchema, request);
  const options = { claimId, actor: actorOf(request, actor) };
  const outcome = await deps.client.progress(targetOf(request), payload, options);
  return { httpStatus: outcome.httpStatus, shown: { ...outcome, httpStatus: undefined } };
}

function targetOf(request: Request) {
  return { ...keyOf(request), toolCallId: pathParameter(request, 'callId') };
}
