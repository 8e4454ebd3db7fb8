/**
 * `hsafaRoutes`: an Express router with the routes of the Hsafa gateway for other services: results of tools, streams
 * of runs and calls, triggers of agents, and documents. Runs in Node, beside the API.
 */
import express, { type ErrorRequestHandler, type RequestHandler, type Router } from 'express';
import type { HsafaAgentDocuments } from '../documents/agent-documents.js';
import type { HsafaServers } from '../documents/servers.js';
import type { HsafaToolbox } from '../documents/toolbox.js';
import { answerToError, callerOf, type Identify, isAnswer, refusal } from './callers.js';
import { type HsafaDescription, hsafaDescription } from './description.js';
import { type DocumentsOf, documentsAnswer } from './documents.js';
import { OpenStreams } from './open-streams.js';
import { type CallSpaces, type ResultsConversation, submitResult } from './results.js';
import { type RunConversation, streamRun } from './runs.js';
import { type CallOffers, streamCalls } from './stream.js';
import { type TriggerConversation, triggerAgent } from './trigger.js';

/** A `ConversationClient`, or the parts of it that are used here. */
export interface HsafaClient {
  conversation(
    id: string,
    options: { readonly tenant: string; readonly agent?: string },
  ): ResultsConversation & RunConversation & TriggerConversation;
}

export interface HsafaRoutesOptions {
  readonly client: HsafaClient;
  /** The scheme of the API (`apiKeys(...)`, or a function): the only source of tenant and actor. */
  readonly identify: Identify;
  /** `toolOffers` of a store's reader. Absent: there is no stream of calls. */
  readonly offers?: CallOffers;
  /**
   * `colloquy.spaces`: members of a space answer the questions that it shows. False for an application without spaces:
   * the right `answer` suffices for every call.
   */
  readonly spaces: CallSpaces | false;
  /** Agents whose documents change at run time. Absent: they have no routes. */
  readonly agents?: HsafaAgentDocuments;
  /** Tool documents that change at run time. Absent: they have no routes. */
  readonly toolbox?: HsafaToolbox;
  /** MCP servers whose documents change at run time. Absent: they have no routes. */
  readonly servers?: HsafaServers;
  /** Ends all streams, before the server closes. */
  readonly signal?: AbortSignal;
}

/** More than a result may have; a longer body is not read. */
const MAX_BODY = '1mb';

/**
 * | route | answers |
 * |---|---|
 * | `POST /api/runs/{runId}/tool-results`, `{callId, result}` | 200 `{success, agentEntityId}`; 400, 401, 403, 404, 409 with `{error}` |
 * | `GET /api/runs/{runId}/stream` | `text/event-stream` of the events of the run; 204 behind its end; 404 |
 * | `GET /api/tools/stream?tools=a,b` | `text/event-stream` of `tool.call` |
 * | `POST /api/agents/{agentId}/trigger`, `{serviceName, payload, agent?}` | 200 `{success, agentEntityId, eventId}`; 400, 401, 403, 404, 410, 429 with `{error}` |
 * | `GET /api/agents` | 200 `{agents}` |
 * | `PUT`, `DELETE /api/agents/{name}` | as for tools |
 * | `GET /api/agents/{agent}/tools` | 200 `{tools}` |
 * | `PUT /api/agents/{agent}/tools/{name}`, a document | 200 with its `version` and `warnings`; 400 with `problems` |
 * | `DELETE /api/agents/{agent}/tools/{name}` | 200 `{deleted}`; 404 |
 * | `GET`, `PUT`, `DELETE /api/agents/{agent}/mcp-servers…` | the same with `{servers}` |
 * | `GET /api/openapi.json` | 200 the description of these routes, also for callers without credentials |
 * | another method | 405 with `Allow` |
 *
 * The caller needs the right `answer`, `read` for runs, `send` for triggers, or `admin` for the documents; a key of the
 * API is taken from `x-secret-key` as well. A question that a space shows is answered by members of the space, with the
 * right `send` or `answer`. A repeat of a result under the same `Idempotency-Key` has the answer of the first; without
 * one it is 409. A trigger is one event for each key; without one each request is another.
 * @throws {TypeError} without `spaces`
 */
export function hsafaRoutes(options: HsafaRoutesOptions): Router {
  const { client, identify, offers } = options;
  const spaces = spacesIn(options);
  const router = express.Router();
  router.post(
    '/api/runs/:runId/tool-results',
    express.json({ limit: MAX_BODY }),
    async (request, response) => {
      // Stamped first: lateness is judged by when the result arrived.
      const receivedAt = new Date().toISOString();
      // Members of a space answer its calls with the right to write in it.
      const asMember = spaces === false ? [] : (['send'] as const);
      const caller = await callerOf(identify, request, 'answer', ...asMember);
      const answer = isAnswer(caller)
        ? caller
        : await submitResult({ client, spaces }, request, { caller, receivedAt });
      response.status(answer.status).json(answer.body);
    },
  );
  addTriggers(router, options);
  const streams = new OpenStreams(identify, options.signal);
  router.get(
    '/api/runs/:runId/stream',
    streams.answering('read', (caller, of) => streamRun(client, caller, of)),
  );
  if (offers !== undefined)
    router.get(
      '/api/tools/stream',
      streams.answering('answer', (caller, of) => streamCalls(offers, caller, of)),
    );
  const { agents, toolbox, servers } = options;
  const description = hsafaDescription({
    offers: offers !== undefined,
    agents: agents !== undefined,
    toolbox: toolbox !== undefined,
    servers: servers !== undefined,
  });
  router.get('/api/openapi.json', (_request, response) => {
    response.json(description);
  });
  for (const documents of documentsOf(options)) addDocuments(router, identify, documents);
  refuseOtherMethods(router, description);
  router.use(errorHandler());
  return router;
}

function addTriggers(router: Router, { client, identify }: HsafaRoutesOptions): void {
  router.post(
    '/api/agents/:agentId/trigger',
    express.json({ limit: MAX_BODY }),
    async (request, response) => {
      const caller = await callerOf(identify, request, 'send');
      const answer = isAnswer(caller) ? caller : await triggerAgent(client, request, caller);
      response.status(answer.status).json(answer.body);
    },
  );
}

/** Forgotten, it would let strangers answer the questions of a space. */
function spacesIn({ spaces }: { readonly spaces?: CallSpaces | false }): CallSpaces | false {
  if (spaces === undefined)
    throw new TypeError('hsafaRoutes: spaces must be colloquy.spaces, or false without spaces');
  return spaces;
}

/** 405 with `Allow`. Express answers `OPTIONS`, unless the application does before these routes (CORS). */
function refuseOtherMethods(router: Router, { paths }: HsafaDescription): void {
  for (const [path, operations] of Object.entries({ ...paths, '/api/openapi.json': { get: {} } })) {
    const methods = Object.keys(operations).map((method) => method.toUpperCase());
    const allow = methods.flatMap((name) => (name === 'GET' ? [name, 'HEAD'] : [name])).join(', ');
    router.all(path.replaceAll(/\{(\w+)\}/g, ':$1'), (request, response, next) => {
      if (request.method === 'OPTIONS') {
        next();
        return;
      }
      response.setHeader('Allow', allow);
      response.status(405).json({ error: `${request.method} is not possible here: ${allow}` });
    });
  }
}

type PlacedDocuments = DocumentsOf & { readonly path: string };

function documentsOf({ agents, toolbox, servers }: HsafaRoutesOptions): readonly PlacedDocuments[] {
  const path = '/api/agents';
  const one = `${path}/:agent`;
  const found: PlacedDocuments[] = [];
  if (agents !== undefined) found.push({ path, box: agents, listed: 'agents', kind: 'agent' });
  if (toolbox !== undefined)
    found.push({ path: `${one}/tools`, box: toolbox, listed: 'tools', kind: 'tool' });
  if (servers !== undefined)
    found.push({ path: `${one}/mcp-servers`, box: servers, listed: 'servers', kind: 'server' });
  return found;
}

function addDocuments(
  router: Router,
  identify: Identify,
  { path, ...documents }: PlacedDocuments,
): void {
  const handle: RequestHandler = async (request, response) => {
    const caller = await callerOf(identify, request, 'admin');
    const answer = isAnswer(caller) ? caller : await documentsAnswer(documents, request, caller);
    response.status(answer.status).json(answer.body);
  };
  router.get(path, handle);
  router.put(`${path}/:name`, express.json({ limit: MAX_BODY }), handle);
  router.delete(`${path}/:name`, handle);
}

/** Answers errors of the client and of the body; any other is left to the application. */
function errorHandler(): ErrorRequestHandler {
  const handle = (...[error, , response, next]: Parameters<ErrorRequestHandler>): void => {
    const { type, status } = error as { readonly type?: unknown; readonly status?: unknown };
    const answer =
      type === 'entity.too.large'
        ? refusal(413, `The body has more than ${MAX_BODY}`)
        : typeof type === 'string' && typeof status === 'number' && status < 500
          ? refusal(status, 'The body must be JSON')
          : answerToError(error);
    if (answer === undefined || response.headersSent) next(error);
    else response.status(answer.status).json(answer.body);
  };
  // Express recognises an error handler by its four parameters.
  return Object.defineProperty(handle, 'length', { value: 4 });
}
