/** Resolves a waiting call, and moves its deadline: the body is the verdict, the status is the verdict's. */
import type { Request, Router } from 'express';
import type { ResolveOptions } from '../../client/api/call-types.js';
import type { Resolution } from '../../protocol/calls/resolutions.js';
import type { StampedActor } from '../../protocol/values/actors.js';
import type { Duration } from '../../protocol/values/durations.js';
import type { CallRef } from '../../protocol/values/ids.js';
import { isRecord } from '../../protocol/values/json.js';
import { actorOf } from '../identity/callers.js';
import { requireOwnFiles } from '../identity/provider-files.js';
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
  const { requestId, ...body } = resolutionIn(request);
  const target = { ...keyOf(request), toolCallId: pathParameter(request, 'callId') };
  const actor = actorOf(request, body.actor);
  return await resolveAt(deps, target, {
    ...body,
    ...requestIdOf(request, requestId),
    actor,
    receivedAt,
  });
}

/** One answer, as the body of its request and the server give it. */
export interface GivenAnswer extends Pick<ResolveOptions, 'argsDigest' | 'claimId' | 'requestId'> {
  readonly resolution: Resolution;
  readonly actor: StampedActor;
  /** ISO 8601 */
  readonly receivedAt: string;
}

/** @throws {ConversationError} as `ConversationClient.resolve`, and invalid_request for files that are not the actor's */
export async function resolveAt(
  deps: AppDeps,
  target: CallRef,
  { resolution, ...options }: GivenAnswer,
): Promise<Answered> {
  const parts = 'files' in resolution ? resolution.files : undefined;
  const owner = { ...target, actor: options.actor };
  await requireOwnFiles(deps, owner, { parts, path: '/resolution/files' });
  const outcome = await deps.client.resolve(target, resolution, options);
  const shown: object = { ...outcome, httpStatus: undefined, final: undefined };
  return { httpStatus: outcome.httpStatus, shown };
}

/** Accepts `{resolution, ...}`, or the resolution itself. */
export function resolutionIn(request: Request): ReturnType<typeof parseBody<typeof ResolveSchema>> {
  const body: unknown = request.body;
  const bare = isRecord(body) && 'type' in body && !('resolution' in body);
  return bare
    ? { resolution: parseBody(ResolutionSchema, request) }
    : parseBody(ResolveSchema, request);
}
