/** The HTTP API as an express app. The app opens no port and has no lifetime of its own. */
import express, { type Express, type Request, type RequestHandler, Router } from 'express';
import helmet from 'helmet';
import { ConversationError } from '../client/api/errors.js';
import { requireKnown } from '../protocol/values/field-problem.js';
import { callerOf } from './identity/callers.js';
import { identifyCallers, identityFor, isSameCaller } from './identity/gate.js';
import { rememberIdentified } from './identity/identified.js';
import { isForDevelopment } from './identity/identity.js';
import { limitCallers } from './limits/middleware.js';
import { type CallerLimits, DEFAULT_STREAMS } from './limits/options.js';
import { refuseOtherBodies } from './limits/other-bodies.js';
import { refuseRunning } from './limits/running.js';
import { isAnyOf } from './openapi/places.js';
import { isLimited, refusesRepeats } from './openapi/rows/operation.js';
import { OPERATIONS } from './openapi/rows/operations.js';
import { addOperationRoutes } from './operations/routes.js';
import { allowCors, allowOrigins } from './request/cors.js';
import { APP_FIELDS, type AppDeps, type RoutesContext } from './request/deps.js';
import { checkKey, jsonBody, requestId, requestLog, requestNote } from './request/middleware.js';
import { refuseOtherSites } from './request/other-sites.js';
import { problemHandler, sendProblem } from './request/problem.js';
import { OpenStreams, rememberStreams } from './request/streams.js';
import { addBlobRoutes, addUploadRoute } from './routes/blobs.js';
import { addClaimRoutes } from './routes/claims.js';
import { addConversationRoutes, namedActorIn } from './routes/conversations.js';
import { addEventRoutes } from './routes/events.js';
import { addForkRoutes } from './routes/forks.js';
import { addInboxRoutes } from './routes/inbox.js';
import { addRuleRoutes } from './routes/rules.js';
import { codecRouter } from './routes/service/codec.js';
import { addDescriptionRoute } from './routes/service/description.js';
import { addExportRoutes } from './routes/service/exports.js';
import { addAgentRoutes, addHealthRoutes } from './routes/service/health.js';
import { addInspectionRoutes } from './routes/service/inspection.js';
import { addSessionRoutes } from './routes/service/session.js';
import { addTokenRoutes } from './routes/service/tokens.js';
import { addWebhookRoutes } from './routes/service/webhooks.js';
import { addStepRoutes } from './routes/steps.js';
import { addToolCallRoutes } from './routes/tool-calls.js';
import { addTriggerRoutes } from './routes/triggers.js';
import { addTurnRoutes } from './routes/turns.js';
import { addSpaceRoutes } from './spaces/routes.js';
import { uiRouter } from './ui/routes.js';
import { addWorklistRoutes } from './worklist/routes.js';

/**
 * Builds the app. `identify` identifies the sender of every request but those to `/healthz`, `/readyz`,
 * `/openapi.json` and the files of the web page, `/ui`. Requests that pages of other sites have a browser send are
 * refused: 421 `host_not_allowed`, 403 `origin_not_allowed`.
 * @throws {ConversationError} invalid_request when an entry of `allowedHosts` is not a host name
 * @throws {TypeError} naming an option that is not known, and without `identify`
 * @example const server = await serve(createApp({ client, reader, conversations: store, identify }), { port: 8080 });
 */
export function createApp(deps: AppDeps): Express {
  requireKnown('createApp', deps, APP_FIELDS);
  const app = express();
  const limits = { callerOf, ...(deps.limits ?? WITHOUT_LIMITS) };
  const streams = openStreams(deps, limits);
  rememberStreams(app, streams);
  rememberIdentified(app, !isForDevelopment(deps.identify));
  app.disable('x-powered-by');
  // Queries are flat: `?a[b]=c` is a parameter named `a[b]`, refused by name.
  app.set('query parser', 'simple');
  app.set('etag', false);

  const { metrics, conversations, webhooks } = deps;
  metrics?.follow({
    streams,
    counts: conversations.counts?.bind(conversations),
    outbox: webhooks?.deliveryCounts.bind(webhooks),
  });
  if (metrics !== undefined) app.use(metrics.observe());
  app.use(requestNote(), requestId());
  if (deps.log !== undefined) app.use(requestLog(deps.log));
  app.use(helmet());
  app.use((_request, response, next) => {
    response.setHeader('Cache-Control', 'no-store');
    next();
  });

  if (deps.codec !== undefined) app.use('/codec', allowOrigins(forUi(deps.codec.origins)));
  if (deps.cors !== undefined) app.use(besideCodec(allowCors(deps.cors)));
  requireIdentify(deps.identify);
  app.use(refuseOtherSites(deps));
  if (deps.routes !== undefined) app.use(deps.routes(routesContext(deps, streams)));
  if (deps.ui !== 'off') app.use(uiRouter());
  app.use(identifyCallers(deps, openPaths(deps)));
  app.use(limitCallers({ ...limits, isFree: isUnlimited }));
  app.use(checkKey(), refuseRunning({ callerOf, isRefusable }));

  if (deps.codec !== undefined) app.use('/codec', codecRouter(deps.codec));
  app.use(routesOf(deps, streams));

  app.use((request, response) => {
    sendProblem(
      response,
      new ConversationError('not_found', `No route ${request.method} ${request.path}`),
    );
  });
  app.use(problemHandler(deps));
  return app;
}

function requireIdentify(identify: unknown): void {
  if (typeof identify === 'function') return;
  const makers = 'developmentIdentity, jwtIdentity or apiKeys';
  throw new TypeError(`createApp: identify must be a function, such as one of ${makers}`);
}

function routesContext(deps: AppDeps, { ended }: OpenStreams): RoutesContext {
  return {
    signal: ended,
    identify: async (request) => {
      const { res } = request;
      return res === undefined ? undefined : await identityFor(deps, request, res);
    },
  };
}

function routesOf(deps: AppDeps, streams: OpenStreams): Router {
  const router = Router();
  addUploadRoute(router, deps);
  router.use(
    jsonBody(),
    refuseOtherBodies({ callerOf, isRefusable: isWithoutMemory, namedActorIn }),
  );
  addHealthRoutes(router, deps, streams);
  addDescriptionRoute(router);
  addAgentRoutes(router, deps);
  addConversationRoutes(router, deps, streams);
  addBlobRoutes(router, deps);
  addEventRoutes(router, deps, streams);
  addInboxRoutes(router, deps);
  addOperationRoutes(router, deps);
  addRuleRoutes(router, deps);
  addForkRoutes(router, deps);
  addExportRoutes(router, deps);
  addInspectionRoutes(router, deps);
  addSessionRoutes(router, deps);
  addTokenRoutes(router, deps);
  addStepRoutes(router, deps);
  addSpaceRoutes(router, deps, streams);
  addToolCallRoutes(router, deps);
  addClaimRoutes(router, deps, streams);
  addTriggerRoutes(router, deps);
  addTurnRoutes(router, deps, streams);
  addWebhookRoutes(router, deps);
  addWorklistRoutes(router, deps, streams);
  return router;
}

function openStreams(
  deps: AppDeps,
  { callerOf: name, streams = DEFAULT_STREAMS }: CallerLimits & { callerOf: typeof callerOf },
): OpenStreams {
  return new OpenStreams({
    isSameCaller: (request) => isSameCaller(deps, request),
    callerOf: name,
    maxPerCaller: streams === 'off' ? undefined : streams,
  });
}

/** The UI can be configured to send its own cookies and token along. */
function forUi(origins: readonly string[]): Parameters<typeof allowOrigins>[0] {
  return {
    origins,
    credentials: true,
    methods: () => 'POST',
    headers: 'content-type, x-namespace',
  };
}

const WITHOUT_LIMITS: CallerLimits = { requests: 'off', streams: 'off' };

const isRefusable = isAnyOf(OPERATIONS.filter(refusesRepeats));

/** The bodies of these may name the id of what they begin, and another id knows nothing of the key. */
const NAMING: readonly string[] = ['createConversation', 'forkConversation'];

/** Nothing but this process remembers the keys of these; where `idempotent` is `itself`, a repeat has no further effect. */
const isWithoutMemory = isAnyOf(
  OPERATIONS.filter(
    (row) => NAMING.includes(row.id) || (row.idempotent === 'itself' && refusesRepeats(row)),
  ),
);

const isUnlimitedPlace = isAnyOf(OPERATIONS.filter((row) => !isLimited(row)));

/** Answers to calls, and probes. */
function isUnlimited(request: Request): boolean {
  return request.method === 'OPTIONS' || isUnlimitedPlace(request);
}

/** Paths that need no identity. Written otherwise than in the description, they do. */
function openPaths({ codec }: AppDeps): (path: string) => boolean {
  const open = OPERATIONS.filter(({ right }) => right === 'open').map(({ path }) => path);
  return (path) => open.includes(path) || (codec?.open === true && isOfCodec(path));
}

function isOfCodec(path: string): boolean {
  return /^\/codec(?:\/|$)/i.test(path);
}

/** The codec endpoint has a list of origins of its own. */
function besideCodec(handle: RequestHandler): RequestHandler {
  return (request, response, next) => {
    if (isOfCodec(request.path)) next();
    else handle(request, response, next);
  };
}
