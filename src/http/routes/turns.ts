/** Turns by their id alone: ids are unique over all conversations, so a job can come back for its result or its events. */
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
import { mayName } from '../request/tenants.js';
import { LastEventIdSchema, TurnQuerySchema, TurnStreamQuerySchema } from '../schemas/queries.js';

/**
 * Store reads for a turn id: a turn that was admitted a moment ago reaches the store within some hundred milliseconds.
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
      const from = await placeInTurn(deps.reader, turn, after);
      // The turn is in an older log only.
      if (from.status === 'unknown') throw unknownTurn(turnId);
      if (from.status === 'over') {
        // A browser does not connect again after this status.
        response.status(204).end();
        return;
      }
      await answerWithStream<TurnFrame>(request, response, {
        ...{ streams, heartbeatMs: deps.heartbeatMs, format: formatFrame },
        frames: (signal) => watchTurn(deps.reader, turn, { from, signal }),
      });
    },
  });
}

function unknownTurn(turnId: string): ConversationError {
  return new ConversationError('unknown_turn', `No turn "${turnId}" is known`);
}

/**
 * Finds the conversation of a turn. A turn that the caller may not name is retried as long as a missing one, so that response
 * times do not distinguish the two.
 */
async function find(
  deps: AppDeps,
  turnId: string,
  request: Request,
): Promise<ConversationKey | undefined> {
  for (let poll = 1; ; poll += 1) {
    const key = await deps.reader.findTurn(turnId);
    if (key !== undefined && mayName(request, key)) return key;
    if (poll === POLLS) return undefined;
    await sleep(POLL_PAUSE_MS);
  }
}
