/**
 * The conversations of a tenant as a stream of changes. Only requests for an event stream mean it: a conversation may
 * have the id `stream`, and is read and deleted under the same path.
 */
import type { Router } from 'express';
import { watchList } from '../../client/reading/lists.js';
import type { ConversationsFrame } from '../../protocol/log/conversations-stream.js';
import type { AppDeps } from '../request/deps.js';
import { lastEventIdOf, parseQuery } from '../request/parse.js';
import { addRoute } from '../request/router.js';
import { answerWithStream } from '../request/sse.js';
import type { OpenStreams } from '../request/streams.js';
import { tenantOf } from '../request/tenants.js';
import { ListStreamQuerySchema, PlaceSchema } from '../schemas/queries.js';

export function addConversationStreamRoute(
  router: Router,
  deps: AppDeps,
  streams: OpenStreams,
): void {
  addRoute(router, '/v1/conversations/stream', {
    // Everything else is about a conversation of this name.
    isMeant: (request) =>
      request.method === 'OPTIONS' ||
      (['GET', 'HEAD'].includes(request.method) &&
        request.accepts(['json', 'text/event-stream']) === 'text/event-stream'),
    get: async (request, response) => {
      const { after, tenant: _named, ...filter } = parseQuery(ListStreamQuerySchema, request);
      const tenant = tenantOf(request);
      const from = lastEventIdOf(request, PlaceSchema) ?? after;
      await answerWithStream<ConversationsFrame>(request, response, {
        ...{ streams, heartbeatMs: deps.heartbeatMs, format: formatConversationsFrame },
        // Follows before the stream opens, so that a store that is away is a 503 and not an empty stream.
        frames: (signal) =>
          watchList(deps.reader, { tenant, channel: 'api' }, { ...filter, after: from, signal }),
      });
    },
  });
}

export function formatConversationsFrame(frame: ConversationsFrame): string {
  const id = frame.id === undefined ? '' : `id: ${frame.id}\n`;
  return `${id}event: ${frame.type}\ndata: ${dataOf(frame)}\n\n`;
}

/** Texts of rows that several readers get. */
const texts = new WeakMap<object, string>();

function dataOf(frame: ConversationsFrame): string {
  if (frame.type === 'removed') return JSON.stringify({ conversationId: frame.conversationId });
  if (frame.type !== 'conversation') return '{}';
  const known = texts.get(frame.conversation);
  if (known !== undefined) return known;
  const text = JSON.stringify(frame.conversation);
  texts.set(frame.conversation, text);
  return text;
}
