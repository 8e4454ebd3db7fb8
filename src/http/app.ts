/** The HTTP API as an express app. The app opens no port and has no lifetime of its own. */
import express, { type Express, type RequestHandler, Router } from 'express';
import helmet from 'helmet';
import { ConversationError } from '../client/api/errors.js';
import { addDescriptionRoute } from './openapi/route.js';
import { allowCors, allowOrigins } from './request/cors.js';
import type { AppDeps } from './request/deps.js';
import { jsonBody, requestId, requestLog, requestNote } from './request/middleware.js';
import { refuseOtherSites } from './request/other-sites.js';
import { problemHandler, sendProblem } from './request/problem.js';
import { OpenStreams, rememberStreams } from './request/streams.js';
import { addBlobRoutes, addUploadRoute } from './routes/blobs.js';
import { addClaimRoutes } from './routes/claims.js';
import { codecRouter } from './routes/codec.js';
import { addConversationRoutes } from './routes/conversations.js';
import { addEventRoutes } from './routes/events.js';
import { addAgentRoutes, addHealthRoutes } from './routes/health.js';
import { addInboxRoutes } from './routes/inbox.js';
import { addRuleRoutes } from './routes/rules.js';
import { addStepRoutes } from './routes/steps.js';
import { addToolCallRoutes } from './routes/tool-calls.js';
import { addTriggerRoutes } from './routes/triggers.js';
import { addTurnRoutes } from './routes/turns.js';

/**
 * Builds the app. No identity is checked yet: bind it to loopback only (`serve` insists on it). Requests that pages of
 * other sites have a browser send are refused: 421 `host_not_allowed`, 403 `origin_not_allowed`.
 * @throws {ConversationError} invalid_request when an entry of `allowedHosts` is not a host name
 * @example const server = await serve(createApp({ client, reader, conversations: store }), { port: 8080 });
 */
export function createApp(deps: AppDeps): Express {
  const app = express();
  const streams = new OpenStreams();
  rememberStreams(app, streams);
  app.disable('x-powered-by');
  // Queries are flat: `?a[b]=c` is a parameter named `a[b]`, refused by name.
  app.set('query parser', 'simple');
  app.set('etag', false);

  const { metrics, conversations } = deps;
  metrics?.follow({ streams, counts: conversations.counts?.bind(conversations) });
  if (metrics !== undefined) app.use(metrics.observe());
  app.use(requestNote());
  app.use(requestId());
  if (deps.log !== undefined) app.use(requestLog(deps.log));
  app.use(helmet());
  app.use((_request, response, next) => {
    response.setHeader('Cache-Control', 'no-store');
    next();
  });

  if (deps.codec !== undefined) app.use('/codec', allowOrigins(forUi(deps.codec.origins)));
  if (deps.cors !== undefined) app.use(besideCodec(allowCors(deps.cors)));
  app.use(refuseOtherSites(deps));

  if (deps.codec !== undefined) app.use('/codec', codecRouter(deps.codec.codecs));
  const router = Router();
  addUploadRoute(router, deps);
  router.use(jsonBody());
  addHealthRoutes(router, deps, streams);
  addDescriptionRoute(router);
  addAgentRoutes(router, deps);
  addConversationRoutes(router, deps);
  addBlobRoutes(router, deps);
  addEventRoutes(router, deps, streams);
  addInboxRoutes(router, deps);
  addRuleRoutes(router, deps);
  addStepRoutes(router, deps);
  addToolCallRoutes(router, deps);
  addClaimRoutes(router, deps);
  addTriggerRoutes(router, deps);
  addTurnRoutes(router, deps);
  app.use(router);

  app.use((request, response) => {
    sendProblem(
      response,
      new ConversationError('not_found', `No route ${request.method} ${request.path}`),
    );
  });
  app.use(problemHandler(deps));
  return app;
}

/** The UI can be configured to send its own cookies and token along. */
function forUi(origins: readonly string[]): Parameters<typeof allowOrigins>[0] {
  return { origins, credentials: true, methods: 'POST', headers: 'content-type, x-namespace' };
}

/** The codec endpoint has a list of origins of its own. */
function besideCodec(handle: RequestHandler): RequestHandler {
  return (request, response, next) => {
    if (/^\/codec(?:\/|$)/i.test(request.path)) next();
    else handle(request, response, next);
  };
}
