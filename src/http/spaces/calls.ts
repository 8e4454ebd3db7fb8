/**
 * Members of a space answer the calls that it shows. Membership stands for the right to answer in the conversation; the
 * conversation judges the answer as every other one, with the audience of the call.
 */
import type { Request, Router } from 'express';
import { invalidField } from '../../client/api/errors.js';
import { VERDICT_HTTP_STATUS, type Verdict } from '../../protocol/calls/resolutions.js';
import { beyondMembers, fieldBeyondCall } from '../../spaces/calls/answerable.js';
import { actorOf } from '../identity/callers.js';
import type { AppDeps } from '../request/deps.js';
import { pathParameter, requestIdOf } from '../request/parse.js';
import { type Answered, answerWith } from '../request/problem.js';
import { addRoute } from '../request/router.js';
import { resolutionIn, resolveAt } from '../routes/tool-calls.js';
import { callerIn, spaceIdOf, spacesOf } from './caller.js';

export function addCallRoutes(router: Router, deps: AppDeps): void {
  addRoute(router, '/v1/spaces/:spaceId/messages/:messageId/resolution', {
    post: async (request, response) => {
      const receivedAt = new Date().toISOString();
      await answerWith(response, () => resolve(deps, request, receivedAt));
    },
  });
}

async function resolve(deps: AppDeps, request: Request, receivedAt: string): Promise<Answered> {
  const { requestId, actor: named, ...answer } = resolutionIn(request);
  const beyond = fieldBeyondCall(answer.resolution);
  if (beyond !== undefined) {
    const isWrapped = 'resolution' in (request.body as object);
    throw invalidField(`${isWrapped ? '/resolution' : ''}${beyond.path}`, beyond.message);
  }
  const caller = callerIn(request, named);
  const messageId = pathParameter(request, 'messageId');
  const call = await spacesOf(deps).call(caller, spaceIdOf(request), messageId);
  if (call === undefined) return refused({ verdict: 'unknown', what: 'tool_call' });
  const reason = beyondMembers(call, answer.resolution);
  if (reason !== undefined) return refused({ verdict: 'forbidden', reason });
  const actor = actorOf(request, named);
  return await resolveAt(deps, call, {
    ...answer,
    ...requestIdOf(request, requestId),
    actor,
    receivedAt,
  });
}

function refused(verdict: Verdict): Answered {
  return { httpStatus: VERDICT_HTTP_STATUS[verdict.verdict], shown: verdict };
}
