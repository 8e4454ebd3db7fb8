/**
 * Turns by their id alone: ids are unique over all conversations but forks, so a job can come back for its result or
 * its events.
 */
import type { Request, Router } from 'express';
import { ConversationError, invalidField } from '../../client/api/errors.js';
import type { TurnFrame } from '../../client/api/types.js';
import {
  onceStored,
  placeInTurn,
  type TurnPlace,
  watchTurn,
} from '../../client/messages/watch-turn.js';
import type { ConversationKey } from '../../protocol/values/ids.js';
import type { AppDeps } from '../request/deps.js';
import {
  goneSignal,
  lastEventIdOf,
  parseQuery,
  pathParameter,
  timeoutOf,
} from '../request/parse.js';
import { addRoute } from '../request/router.js';
import { answerWithStream, formatFrame } from '../request/sse.js';
import type { OpenStreams } from '../request/streams.js';
import { mayName, nameableKeys } from '../request/tenants.js';
import { LastEventIdSchema, TurnQuerySchema, TurnStreamQuerySchema } from '../schemas/queries.js';

/** Milliseconds for which an unknown turn may be on its way to the store, or in a log that is being rewritten. */
const STORED_MS = 600;

export function addTurnRoutes(router: Router, deps: AppDeps, streams: OpenStreams): void {
  addRoute(router, '/v1/turns/:turnId', {
    get: async (request, response) => {
      const { wait, timeout, atLeastSeq } = parseQuery(TurnQuerySchema, request);
      if (wait !== undefined && timeout !== undefined)
        throw invalidField('?timeout', 'must not be given together with wait, its new name');
      const timeoutMs = wait === undefined ? timeoutOf(timeout, 0) : timeoutOf(wait, 0, 'wait');
      const turnId = pathParameter(request, 'turnId');
      const key = await find(deps, turnId, request);
      if (key === undefined) throw unknownTurn(turnId);
      const { conversationId } = key;
      // Read through the client, which knows the events that this process received: an answered call no longer counts
      // as waiting.
      const result = await deps.client
        .turn(conversationId, turnId, { tenant: key.tenant })
        .result({ timeout: timeoutMs, atLeastSeq, signal: goneSignal(request) });
      response.json({ conversationId, ...result });
    },
  });
  addRoute(router, '/v1/turns/:turnId/stream', {
    get: async (request, response) => {
      const query = parseQuery(TurnStreamQuerySchema, request);
      const after = lastEventIdOf(request, LastEventIdSchema) ?? query.after;
      const turnId = pathParameter(request, 'turnId');
      const key = await find(deps, turnId, request);
      if (key === undefined) throw unknownTurn(turnId);
      const turn = { key, turnId };
      await answerWithStream<TurnFrame>(request, response, {
        ...{ streams, heartbeatMs: deps.heartbeatMs, format: formatFrame },
        frames: async (signal) => {
          const placed = async (): Promise<TurnPlace | undefined> => {
            const place = await placeInTurn(deps.reader, turn, after);
            return place.status === 'unknown' ? undefined : place;
          };
          const from = await onceStored(placed, { withinMs: STORED_MS });
          // The turn is in an older log only.
          if (from === undefined) throw unknownTurn(turnId);
          return from.status === 'over'
            ? undefined
            : watchTurn(deps.reader, turn, { from, signal });
        },
      });
    },
  });
}

function unknownTurn(turnId: string): ConversationError {
  return new ConversationError('unknown_turn', `No turn "${turnId}" is known`);
}

/**
 * Finds the conversation of a turn. A turn that the caller may not name is retried as long as a missing one, so that
 * response times do not distinguish the two.
 */
async function find(
  deps: AppDeps,
  turnId: string,
  request: Request,
): Promise<ConversationKey | undefined> {
  const among = nameableKeys(request);
  const read = async (): Promise<ConversationKey | undefined> => {
    const key = await deps.reader.findTurn(turnId, among);
    // A reader of the application may search among all conversations.
    return key !== undefined && mayName(request, key) ? key : undefined;
  };
  return await onceStored(read, { withinMs: STORED_MS });
}
