/** Conversations: create or continue, list, show, stop, close. */
import { randomUUID } from 'node:crypto';
import type { Request, Response, Router } from 'express';
import { ConversationError, invalidField } from '../../client/api/errors.js';
import type { Sent } from '../../client/api/types.js';
import type { Conversation } from '../../client/conversation.js';
import type { ListedBy } from '../../client/ports/reader.js';
import { MAX_WAIT_RESULT_MS } from '../../protocol/limits/service-limits.js';
import type { Actor } from '../../protocol/values/actors.js';
import type { ConversationKey } from '../../protocol/values/ids.js';
import { isRecord } from '../../protocol/values/json.js';
import { actorOf } from '../identity/callers.js';
import { requireOwnFiles } from '../identity/provider-files.js';
import { idOfKey } from '../limits/keys.js';
import type { AppDeps } from '../request/deps.js';
import { listedActor } from '../request/listed-actor.js';
import { noteCaused } from '../request/middleware.js';
import { goneSignal, parseBody, parseQuery, requestIdOf, timeoutOf } from '../request/parse.js';
import { addRoute } from '../request/router.js';
import type { OpenStreams } from '../request/streams.js';
import { sendTagged } from '../request/tags.js';
import { addressOf, conversationOf, keyOf, mayName, tenantOf } from '../request/tenants.js';
import {
  CancelSchema,
  CloseSchema,
  CreateConversationSchema,
  CreateWithMessageSchema,
  NoBodySchema,
  SendMessageSchema,
} from '../schemas/bodies.js';
import {
  ListQuerySchema,
  PendingQuerySchema,
  SnapshotQuerySchema,
  WaitQuerySchema,
} from '../schemas/queries.js';
import { addConversationStreamRoute } from './conversations-stream.js';

export const CONVERSATIONS_A_PAGE = 50;
/** A caller of the API is refused soon where messages have to wait; it repeats the request itself. */
const BUSY_TIMEOUT_MS = 2_500;

export function addConversationRoutes(router: Router, deps: AppDeps, streams: OpenStreams): void {
  // Before the routes of one conversation, which match its path as well.
  addConversationStreamRoute(router, deps, streams);
  addRoute(router, '/v1/conversations', {
    get: async (request, response) => {
      await list(deps, request, response);
    },
    post: async (request, response) => {
      await create(deps, request, response);
    },
  });
  addRoute(router, '/v1/conversations/:id', {
    get: async (request, response) => {
      const { atLeastSeq } = parseQuery(SnapshotQuerySchema, request);
      const snapshot = await conversationOf(deps, request).snapshot({ atLeastSeq });
      sendTagged(request, response, snapshot);
    },
    delete: async (request, response) => {
      parseBody(NoBodySchema, request);
      const { tenant, conversationId } = keyOf(request);
      response.json(await deps.client.deleteConversation(conversationId, { tenant }));
    },
  });
  addRoute(router, '/v1/conversations/:id/pending', {
    get: async (request, response) => {
      const { nested } = parseQuery(PendingQuerySchema, request);
      const conversation = conversationOf(deps, request);
      const { pending, seq } = await conversation.snapshot();
      const shown = nested === undefined ? pending : await conversation.pending({ nested: true });
      response.json({ pending: shown, seq });
    },
  });
  addRoute(router, '/v1/conversations/:id/plugin-states', {
    get: async (request, response) => {
      response.json(await conversationOf(deps, request).pluginStates());
    },
  });
  addRoute(router, '/v1/conversations/:id/messages', {
    post: async (request, response) => {
      await send(deps, request, response);
    },
  });
  addRoute(router, '/v1/conversations/:id/cancel', {
    post: async (request, response) => {
      await cancel(deps, request, response);
    },
  });
  addRoute(router, '/v1/conversations/:id/close', {
    post: async (request, response) => {
      const { actor } = parseBody(CloseSchema, request);
      response.json(await conversationOf(deps, request).close({ actor: actorOf(request, actor) }));
    },
  });
}

/**
 * Checks that the conversation exists. The server is asked about one that the store does not have yet: a conversation
 * must not be "unknown" that was created a moment ago or while no worker runs, that was closed while the store was
 * down, or that is missing from a restored store.
 * @throws {ConversationError} unknown_conversation, temporal_unreachable, store_unavailable
 */
export async function requireBegun(deps: AppDeps, key: ConversationKey): Promise<void> {
  if ((await deps.reader.snapshot(key)) !== undefined) return;
  const { tenant, conversationId } = key;
  const conversation = deps.client.conversation(conversationId, { tenant });
  if (await conversation.isOpen()) return;
  // `atLeastSeq` only where a run exists: the read takes a second to give up when no worker reports events.
  const isKnown = await conversation.exists();
  if (isKnown && (await deps.reader.snapshot(key, { atLeastSeq: 1 })) !== undefined) return;
  throw new ConversationError('unknown_conversation', `No conversation "${conversationId}"`);
}

/**
 * Sends without naming an agent: the client finds that of the conversation, and has none for one that was never begun.
 * @throws {ConversationError} unknown_conversation, with this text
 */
export async function ofBegun<Value>(unknown: string, send: () => Promise<Value>): Promise<Value> {
  try {
    return await send();
  } catch (error) {
    const isWithoutAgent =
      ConversationError.isInstance(error) &&
      error.code === 'invalid_request' &&
      error.problems?.[0]?.path === '/agent';
    throw isWithoutAgent ? new ConversationError('unknown_conversation', unknown) : error;
  }
}

async function list(deps: AppDeps, request: Request, response: Response): Promise<void> {
  const { pendingFor, pendingForRole, ...query } = parseQuery(ListQuerySchema, request);
  const options = {
    limit: CONVERSATIONS_A_PAGE,
    ...query,
    tenant: tenantOf(request),
    ...listedFor(request, pendingFor, pendingForRole),
  };
  try {
    response.json(await deps.conversations.list(options));
  } catch (error) {
    // Only the store can recognise its own cursors.
    if (query.cursor === undefined || !(error instanceof RangeError)) throw error;
    throw invalidField('?cursor', 'must be the nextCursor of an earlier page');
  }
}

/** The filter by actor. */
function listedFor(
  request: Request,
  id: string | undefined,
  role: string | readonly string[] | undefined,
): Pick<ListedBy, 'pendingFor'> {
  if (id === undefined && role === undefined) return {};
  const named = { id, role, names: ['pendingFor', 'pendingForRole'] as const };
  const { channel: _api, ...pendingFor } = listedActor(request, named);
  return { pendingFor };
}

async function create(deps: AppDeps, request: Request, response: Response): Promise<void> {
  const body = createBodyOf(request);
  const { requestId } = requestIdOf(request, body.requestId);
  const wait = waitOf(request);
  const tenant = tenantOf(request);
  const actor = actorOf(request, body.actor, body.placeOf('/actor'));
  const conversationId = body.id ?? mintedId(actor, requestId);
  if (!mayName(request, { tenant, conversationId }))
    throw invalidField('/id', 'must be the conversation to which the caller is bound');
  const conversation = deps.client.conversation(conversationId, { agent: body.agent, tenant });
  const owner = { tenant, conversationId, actor };
  const path = body.placeOf('/attachments');
  await requireOwnFiles(deps, owner, { parts: body.attachments, path });
  const sent = await sendAs(body.placeOf, () =>
    conversation.send(body.text, {
      ...(requestId === undefined ? {} : { requestId }),
      actor,
      onBusy: body.onBusy,
      reopen: body.reopen,
      attachments: body.attachments,
      output: body.output,
      busyTimeout: BUSY_TIMEOUT_MS,
    }),
  );
  response.setHeader('Location', addressOf(request, conversation.id));
  await answer(request, response, { conversation, sent, wait });
}

/** Accepts the first message as a text or as an object, and returns one shape for both. */
function createBodyOf(request: Request) {
  const message = isRecord(request.body) ? request.body['message'] : '';
  if (message === undefined)
    throw invalidField('/message', 'is required: a conversation begins with its first message');
  if (!isRecord(message)) {
    const body = parseBody(CreateConversationSchema, request);
    return { ...body, text: body.message, placeOf: placesIn({ text: '/message' }) };
  }
  const { message: first, ...body } = parseBody(CreateWithMessageSchema, request);
  for (const field of ['actor', 'onBusy', 'attachments', 'output'] as const)
    if (first[field] !== undefined && body[field] !== undefined)
      throw invalidField(`/message/${field}`, 'must not also be given beside the message');
  const places = Object.keys(first).map((field) => [field, `/message/${field}`] as const);
  return { ...body, ...first, placeOf: placesIn(Object.fromEntries(places)) };
}

/** JSON Pointer in the body for one of the client's fields, or of a part of it. */
type PlaceOf = (path: string) => string;

function placesIn(moved: Readonly<Record<string, string>>): PlaceOf {
  return (path) => {
    const [, field = '', ...rest] = path.split('/');
    return [moved[field] ?? `/${field}`, ...rest].join('/');
  };
}

async function send(deps: AppDeps, request: Request, response: Response): Promise<void> {
  const body = parseBody(SendMessageSchema, request);
  const wait = waitOf(request);
  const conversation = conversationOf(deps, request, { agent: body.agent });
  const actor = actorOf(request, body.actor);
  const owner = { ...keyOf(request), actor };
  await requireOwnFiles(deps, owner, { parts: body.attachments, path: '/attachments' });
  const options = {
    ...requestIdOf(request, body.requestId),
    actor,
    onBusy: body.onBusy,
    reopen: body.reopen,
    attachments: body.attachments,
    output: body.output,
    busyTimeout: BUSY_TIMEOUT_MS,
  };
  const unknown = `No conversation "${conversation.id}". Create one with POST /v1/conversations`;
  if (body.agent !== undefined && !(await conversation.exists()))
    throw new ConversationError('unknown_conversation', unknown);
  const sent = await ofBegun(unknown, () =>
    sendAs(placesIn({}), () => conversation.send(body.text, options)),
  );
  await answer(request, response, { conversation, sent, wait });
}

interface Answer {
  readonly conversation: Conversation;
  readonly sent: Sent;
  /** Milliseconds to wait for the result; undefined = not at all. */
  readonly wait: number | undefined;
}

async function answer(
  request: Request,
  response: Response,
  { conversation, sent, wait }: Answer,
): Promise<void> {
  const conversationId = conversation.id;
  noteCaused(response, {
    conversationId,
    ...(sent.status === 'queued' ? {} : { turnId: sent.turnId }),
  });
  if (wait !== undefined) {
    const result = await sent.result({ timeout: wait, signal: goneSignal(request) });
    if (result.status !== 'queued') {
      response.json({ conversationId, ...result });
      return;
    }
  }
  const { status, requestId } = sent;
  if (status === 'queued') {
    const { reason, warning } = sent;
    response.status(202).json({ status, conversationId, requestId, reason, warning });
    return;
  }
  const { turnId, messageId, seq, ahead, duplicate } = sent;
  response
    .status(202)
    .json({ status, conversationId, turnId, messageId, seq, ahead, requestId, duplicate });
}

function waitOf(request: Request): number | undefined {
  const { wait, timeout } = parseQuery(WaitQuerySchema, request);
  const milliseconds = timeoutOf(timeout, MAX_WAIT_RESULT_MS);
  if (timeout !== undefined && wait === undefined)
    throw invalidField('?timeout', 'needs wait=result');
  return wait === undefined ? undefined : milliseconds;
}

/** Reports problems under the body's names of the fields. */
async function sendAs(placeOf: PlaceOf, send: () => Promise<Sent>): Promise<Sent> {
  try {
    return await send();
  } catch (error) {
    const problems = ConversationError.isInstance(error) ? (error.problems ?? []) : [];
    const [first, ...others] = problems.map((entry) => ({ ...entry, path: placeOf(entry.path) }));
    const given = problems[0]?.path;
    if (first === undefined || (first.path === given && given !== '/text')) throw error;
    throw new ConversationError('invalid_request', `${first.path.slice(1)} ${first.message}`, {
      problems: [first, ...others],
    });
  }
}

/**
 * Derives the id from the request id of its actor if there is one, so that a repeated "create" finds the conversation of
 * the first.
 */
function mintedId(actor: Actor, requestId: string | undefined): string {
  return requestId === undefined ? `c-${randomUUID()}` : idOfKey('c', actor, requestId);
}

/** Id of the actor that a body of `POST /v1/conversations` names: the key of the request is that actor's. */
export function namedActorIn({ path, body }: Request): unknown {
  if (!/^\/v1\/conversations\/*$/i.test(path) || !isRecord(body)) return undefined;
  const first = isRecord(body['message']) ? body['message']['actor'] : undefined;
  const actor = body['actor'] ?? first;
  return isRecord(actor) ? actor['id'] : undefined;
}

async function cancel(deps: AppDeps, request: Request, response: Response): Promise<void> {
  const body = parseBody(CancelSchema, request);
  const options = {
    ...body,
    ...requestIdOf(request, body.requestId),
    actor: actorOf(request, body.actor),
  };
  const outcome = await deps.client.cancel(keyOf(request), options);
  response.status(outcome.status === 'queued' ? 202 : 200).json(outcome);
}
