/** Resolves a waiting call, and moves its deadline: the body is the verdict, the status is the verdict's. */
import type { Request, Router } from 'express';
import type { Duration } from '../../protocol/values/durations.js';
import { isRecord } from '../../protocol/values/json.js';
import { actorOf } from '../identity/callers.js';
import type { AppDeps } from '../request/deps.js';
import { parseBody, pathParameter, requestIdOf } from '../request/parse.js';
import { type Answered, answerWith } from '../request/problem.js';
import { addRoute } from '../request/router.js';
import { keyOf } from '../request/tenants.js';
import { ExtendSchema, ResolutionSchema, ResolveSchema } from '../schemas/bodies.js';

export function addToolCallRoutes(router: Router, deps: AppDeps): void {
  addRoute(router, '/v1/conversations/:id/tool-calls/:callId/resolution', {
    post: async (request, response) => {
      // Stamped first: lateness is judged by when the answer arrived, not by how long its delivery took.
      const receivedAt = new Date().toISOString();
      await answerWith(response, () => resolve(deps, request, receivedAt));
    },
  });
  addRoute(router, '/v1/conversations/:id/tool-calls/:callId/extend', {
    post: async (request, response) => {
      await answerWith(response, () => extend(deps, request));
    },
  });
}

async function extend(deps: AppDeps, request: Request): Promise<Answered> {
  const body = parseBody(ExtendSchema, request);
  const target = { ...keyOf(request), toolCallId: pathParameter(request, 'callId') };
  const outcome = await deps.client.extend(target, {
    by: body.by as Duration | undefined,
    until: body.until,
    actor: actorOf(request, body.actor),
    ...requestIdOf(request, body.requestId),
  });
  return { httpStatus: outcome.httpStatus, shown: { ...outcome, httpStatus: undefined } };
}

async function resolve(deps: AppDeps, request: Request, receivedAt: string): Promise<Answered> {
  const body = bodyOf(request);
  const target = { ...keyOf(request), toolCallId: pathParameter(request, 'callId') };
  const outcome = await deps.client.resolve(target, body.resolution, {
    receivedAt,
    actor: actorOf(request, body.actor),
    argsDigest: body.argsDigest,
    claimId: body.claimId,
    ...requestIdOf(request, body.requestId),
  });
  const shown: object = { ...outcome, httpStatus: undefined, final: undefined };
  return { httpStatus: outcome.httpStatus, shown };
}

/** Accepts `{resolution, ...}`, or the resolution itself. */
function bodyOf(request: Request): ReturnType<typeof parseBody<typeof ResolveSchema>> {
  const body: unknown = request.body;
  const bare = isRecord(body) && 'type' in body && !('resolution' in body);
  return bare
    ? { resolution: parseBody(ResolutionSchema, request) }
    : parseBody(ResolveSchema, request);
}
