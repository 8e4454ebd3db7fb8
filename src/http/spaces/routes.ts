/** Spaces and their members: create, list, delete; join and leave. */
import type { Request, Router } from 'express';
import { agentMemberId, MEMBER_KINDS, type MemberRef } from '../../protocol/spaces/spaces.js';
import type { AppDeps } from '../request/deps.js';
import { parseBody, parseQuery, pathParameter, requestIdOf } from '../request/parse.js';
import { addRoute } from '../request/router.js';
import type { OpenStreams } from '../request/streams.js';
import { NoBodySchema } from '../schemas/bodies.js';
import { CreateSpaceSchema, JoinSpaceSchema, SpacesQuerySchema } from '../schemas/spaces.js';
import { callerIn, spaceIdOf, spacesOf, unknownMember } from './caller.js';
import { addCallRoutes } from './calls.js';
import { addMessageRoutes } from './messages.js';

const LIST = '/v1/spaces';
const ONE = `${LIST}/:spaceId`;
const DEFAULT_PAGE = 50;

export function addSpaceRoutes(router: Router, deps: AppDeps, streams: OpenStreams): void {
  addRoute(router, LIST, {
    get: async (request, response) => {
      const { all, cursor, limit = DEFAULT_PAGE } = parseQuery(SpacesQuerySchema, request);
      const options = { limit, cursor, all: all === 'true' };
      response.json(await spacesOf(deps).list(callerIn(request), options));
    },
    post: async (request, response) => {
      const { actor, requestId, ...fields } = parseBody(CreateSpaceSchema, request);
      const caller = callerIn(request, actor);
      const given = { ...fields, ...requestIdOf(request, requestId) };
      const space = await spacesOf(deps).create(caller, given);
      response.status(201).location(`${LIST}/${space.id}`).json(space);
    },
  });
  addRoute(router, ONE, {
    get: async (request, response) => {
      response.json(await spacesOf(deps).get(callerIn(request), spaceIdOf(request)));
    },
    delete: async (request, response) => {
      const spaceId = spaceIdOf(request);
      await spacesOf(deps).remove(callerIn(request), spaceId);
      response.json({ removed: true, spaceId });
    },
  });
  addMemberRoutes(router, deps);
  addMessageRoutes(router, deps, streams);
  addCallRoutes(router, deps);
}

function addMemberRoutes(router: Router, deps: AppDeps): void {
  addRoute(router, `${ONE}/members`, {
    get: async (request, response) => {
      const members = await spacesOf(deps).members(callerIn(request), spaceIdOf(request));
      response.json({ members });
    },
    post: async (request, response) => {
      const { actor, member } = parseBody(JoinSpaceSchema, request);
      const caller = callerIn(request, actor);
      const named =
        member?.kind === 'agent'
          ? { kind: member.kind, id: agentMemberId(member), name: member.name }
          : (member ?? caller.member);
      response.json(await spacesOf(deps).join(caller, spaceIdOf(request), named));
    },
  });
  addRoute(router, `${ONE}/members/:kind/:memberId`, {
    delete: async (request, response) => {
      parseBody(NoBodySchema, request);
      const member = memberOf(request);
      const removed = await spacesOf(deps).leave(callerIn(request), spaceIdOf(request), member);
      response.json({ removed });
    },
  });
}

/** @throws {ConversationError} not_found for a kind that no member has */
function memberOf(request: Request): MemberRef {
  const named = pathParameter(request, 'kind');
  const kind = MEMBER_KINDS.find((each) => each === named);
  if (kind === undefined) throw unknownMember(named);
  return { kind, id: pathParameter(request, 'memberId') };
}
