/**
 * Offers calls to the clients and backends that run them, as a page or an event stream; claims a waiting call, and
 * reports progress under the claim: the body is the verdict, the status is the verdict's.
 */
import type { Request, Router } from 'express';
import { ConversationError, invalidField } from '../../client/api/errors.js';
import type { OfferFrame } from '../../client/ports/reader.js';
import type { Duration } from '../../protocol/values/durations.js';
import { actorOf } from '../identity/callers.js';
import type { AppDeps } from '../request/deps.js';
import {
  lastEventIdOf,
  parseBody,
  parseQuery,
  pathParameter,
  requestIdOf,
} from '../request/parse.js';
import { type Answered, answerWith } from '../request/problem.js';
import { addRoute } from '../request/router.js';
import { answerWithStream, formatOffer } from '../request/sse.js';
import type { OpenStreams } from '../request/streams.js';
import { keyOf, tenantOf } from '../request/tenants.js';
import { ClaimSchema, ProgressSchema } from '../schemas/bodies.js';
import { LastOfferIdSchema, OffersQuerySchema } from '../schemas/queries.js';

const DEFAULT_PAGE = 50;

export function addClaimRoutes(router: Router, deps: AppDeps, streams: OpenStreams): void {
  addRoute(router, '/v1/tool-calls/stream', {
    get: async (request, response) => {
      const { tenant: _named, after, limit, ...query } = parseQuery(OffersQuerySchema, request);
      const of = {
        executors: ['external'] as const,
        ...query,
        tenant: tenantOf(request),
        actor: actorOf(request, undefined),
      };
      const reader = deps.reader.toolOffers;
      if (reader === undefined)
        throw new ConversationError('not_found', 'This API has no event log, so it has no offers');
      if (request.accepts(['json', 'text/event-stream']) !== 'text/event-stream') {
        if (after !== undefined)
          throw invalidField('?after', 'is for streams: ask for text/event-stream');
        response.json(await reader.offers(of, limit ?? DEFAULT_PAGE));
        return;
      }
      if (limit !== undefined)
        throw invalidField('?limit', 'is for pages: ask for application/json');
      const last = lastEventIdOf(request, LastOfferIdSchema) ?? after;
      await answerWithStream<OfferFrame>(request, response, {
        ...{ streams, heartbeatMs: deps.heartbeatMs, format: formatOffer },
        frames: async (signal) => {
          // Read before the stream opens, so that a store that is not available is a 503 and not an empty stream.
          await reader.offers(of, 1);
          return reader.watchOffers(of, { signal, ...(last === undefined ? {} : { after: last }) });
        },
      });
    },
  });
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
    renewOnly: body.renewOnly,
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
