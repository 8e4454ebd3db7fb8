/** The log of a conversation: as pages, or as an event stream with live events between the recorded ones. */
import type { Response, Router } from 'express';
import { invalidField } from '../../client/api/errors.js';
import type { BeforePosition, LogCursor, WatchFrame } from '../../client/ports/reader.js';
import { watchNested } from '../../client/reading/watch-nested.js';
import { formatCursor } from '../../protocol/values/cursor.js';
import type { ConversationKey } from '../../protocol/values/ids.js';
import type { AppDeps } from '../request/deps.js';
import { lastEventIdOf, parseQuery } from '../request/parse.js';
import { addRoute } from '../request/router.js';
import { answerWithStream, formatFrame } from '../request/sse.js';
import type { OpenStreams } from '../request/streams.js';
import { keyOf } from '../request/tenants.js';
import { EventsQuerySchema, LastEventIdSchema } from '../schemas/queries.js';
import { requireBegun } from './conversations.js';

export const EVENTS_A_PAGE = 200;

export function addEventRoutes(router: Router, deps: AppDeps, streams: OpenStreams): void {
  addRoute(router, '/v1/conversations/:id/events', {
    get: async (request, response) => {
      const key = keyOf(request);
      const { tenant: _named, nested, create, ...query } = parseQuery(EventsQuerySchema, request);
      if (request.accepts(['json', 'text/event-stream']) !== 'text/event-stream') {
        for (const [name, value] of Object.entries({ nested, create }))
          if (value !== undefined)
            throw invalidField(`?${name}`, 'is for streams: ask for text/event-stream');
        await page(deps, response, { key, ...query });
        return;
      }
      if (query.before !== undefined)
        throw invalidField('?before', 'is for pages; a stream continues from "after"');
      const after = lastEventIdOf(request, LastEventIdSchema) ?? query.after;
      // Checked before the stream opens, so that an unknown conversation is a 404 and not an empty stream. A page that
      // opens before the first message is sent asks for that stream.
      if (create === undefined) await requireBegun(deps, key);
      const given = after === undefined ? {} : { after };
      await answerWithStream<WatchFrame>(request, response, {
        ...{ streams, heartbeatMs: deps.heartbeatMs, format: formatFrame },
        frames: (signal) =>
          nested === undefined
            ? deps.reader.watch(key, { ...given, signal })
            : watchNested(deps.reader, key, { ...given, signal }),
      });
    },
  });
}

async function page(
  deps: AppDeps,
  response: Response,
  position: { key: ConversationKey; after?: LogCursor; before?: BeforePosition; limit?: number },
): Promise<void> {
  const { key, ...options } = position;
  if (options.after !== undefined && options.before !== undefined)
    throw invalidField('?before', 'cannot be given together with after');
  const found = await deps.reader.events(key, { limit: EVENTS_A_PAGE, ...options });
  if (found === undefined) {
    // The store may lag behind a conversation that began just now: then its log is empty, not unknown.
    await requireBegun(deps, key);
    response.json({
      generation: 1,
      events: [],
      cursor: formatCursor({ generation: 1, seq: 0 }),
      more: false,
    });
    return;
  }
  const { generation, events, cursor, more, tail } = found;
  response.json({
    generation,
    events,
    cursor: formatCursor(cursor),
    more,
    ...(tail === undefined ? {} : { tail: formatCursor(tail) }),
  });
}
