/**
 * Turns by their id alone: ids are unique over all conversations but forks, so a job can come back for its result or
 * its events.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Request, Router } from 'express';
import { ConversationError, invalidField } from '../../client/api/errors.js';
import type { TurnFrame } from '../../client/api/types.js';
import { placeInTurn, watchTurn } from '../../client/messages/watch-turn.js';
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

/**
 * Store reads for a turn: one that was admitted a moment ago reaches the store within some hundred milliseconds, and so
 * does one of a log that is rewritten in several batches.
 */
const POLLS = 5;
const POLL_PAUSE_MS = 150;

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
          const from = await polled(async () => {
            const place = await placeInTurn(deps.reader, turn, after);
            return place.status === 'unknown' ? undefined : place;
          });
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
  return await polled(async () => {
    const key = await deps.reader.findTurn(turnId, among);
    // A reader of the application may search among all conversations.
    return key !== undefined && mayName(request, key) ? key : undefined;
  });
}

/** The first value that a read has, or undefined after the last one. */
async function polled<Value>(read: () => Promise<Value | undefined>): Promise<Value | undefined> {
  for (let poll = 1; ; poll += 1) {
    const value = await read();
    if (value !== undefined || poll === POLLS) return value;
    await sleep(POLL_PAUSE_MS);
  }
}
