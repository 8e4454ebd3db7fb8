/** The worklist: waiting calls across the conversations of a tenant, and answers to many of them at once. */
import type { Request, Response, Router } from 'express';
import type { z } from 'zod';
import { readWorklist, watchWorklist } from '../../client/reading/worklist.js';
import type { WorklistFrame, WorklistPage } from '../../protocol/log/worklist.js';
import type { AppDeps } from '../request/deps.js';
import { listedActor } from '../request/listed-actor.js';
import { lastEventIdOf, parseQuery, readPage } from '../request/parse.js';
import { addRoute } from '../request/router.js';
import { answerWithStream } from '../request/sse.js';
import type { OpenStreams } from '../request/streams.js';
import { tenantOf } from '../request/tenants.js';
import {
  WorklistIdSchema,
  WorklistQuerySchema,
  WorklistStreamQuerySchema,
} from '../schemas/queries.js';
import { resolveMany } from './bulk.js';

export function addWorklistRoutes(router: Router, deps: AppDeps, streams: OpenStreams): void {
  addRoute(router, '/v1/worklist', {
    get: async (request, response) => {
      response.json(await page(deps, request));
    },
  });
  addRoute(router, '/v1/worklist/stream', {
    get: async (request, response) => {
      await stream({ deps, streams }, request, response);
    },
  });
  addRoute(router, '/v1/worklist/resolutions', {
    post: async (request, response) => {
      // Stamped first: lateness is judged by when the answers arrived, not by how long the others took.
      const receivedAt = new Date().toISOString();
      response.json({ results: await resolveMany(deps, request, receivedAt) });
    },
  });
}

async function page(deps: AppDeps, request: Request): Promise<WorklistPage> {
  const { limit, cursor, ...query } = parseQuery(WorklistQuerySchema, request);
  const { own, filters } = asked(request, query);
  return await readPage(() => readWorklist(deps.reader, own, { ...filters, limit, cursor }));
}

async function stream(
  { deps, streams }: { readonly deps: AppDeps; readonly streams: OpenStreams },
  request: Request,
  response: Response,
): Promise<void> {
  const { after, ...query } = parseQuery(WorklistStreamQuerySchema, request);
  const { own, filters } = asked(request, query);
  const from = lastEventIdOf(request, WorklistIdSchema) ?? after;
  await answerWithStream<WorklistFrame>(request, response, {
    ...{ streams, heartbeatMs: deps.heartbeatMs, format: formatWorklistFrame },
    // Reads before the stream opens, so that a store that is away is a 503 and not an empty stream.
    frames: (signal) => watchWorklist(deps.reader, own, { ...filters, after: from, signal }),
  });
}

function formatWorklistFrame({ type, ...frame }: WorklistFrame): string {
  const { id, ...data } = { id: undefined, ...frame };
  const line = id === undefined ? '' : `id: ${id}\n`;
  return `${line}event: ${type}\ndata: ${JSON.stringify(data)}\n\n`;
}

/** The tenant and the actor of a request, and its filters. */
function asked(request: Request, query: Query) {
  const { as, role, mine, tenant: _named, ...filters } = query;
  const actor = listedActor(request, { id: as, role, names: ['as', 'role'] });
  const own = { tenant: tenantOf(request), actor };
  return { own, filters: { ...filters, mine: mine !== 'false' } };
}

type Query = Omit<z.output<typeof WorklistQuerySchema>, 'limit' | 'cursor'>;
