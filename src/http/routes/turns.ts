/** Turns by their id alone: ids are unique over all conversations, so a job can come back for its result. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Router } from 'express';
import { EngineError } from '../../client/api/errors.js';
import type { ConversationKey } from '../../protocol/values/ids.js';
import type { AppDeps } from '../request/deps.js';
import { goneSignal, parseQuery, pathParameter, timeoutOf } from '../request/parse.js';
import { addRoute } from '../request/router.js';
import { TurnQuerySchema } from '../request/schemas.js';
import { tenantsOf } from '../request/tenants.js';

/** A turn that was admitted a moment ago reaches the store within some hundred milliseconds. */
const LOOKS = 5;
const LOOK_PAUSE_MS = 150;

export function addTurnRoutes(router: Router, deps: AppDeps): void {
  addRoute(router, '/v1/turns/:turnId', {
    get: async (request, response) => {
      const { timeout, atLeastSeq } = parseQuery(TurnQuerySchema, request);
      const timeoutMs = timeoutOf(timeout, 0);
      const turnId = pathParameter(request, 'turnId');
      const key = await find(deps, turnId, tenantsOf(deps, request));
      if (key === undefined) throw new EngineError('unknown_turn', `No turn "${turnId}" is known`);
      const { conversationId } = key;
      // By the client, which knows what this process was told of the conversation: a call that was answered no longer waits.
      const result = await deps.client
        .turn(conversationId, turnId, { tenant: key.tenant })
        .result({ timeout: timeoutMs, atLeastSeq, signal: goneSignal(request) });
      response.json({ conversationId, ...result });
    },
  });
}

/** A turn of another tenant is looked for as long as one that is not there: nor does the time tell them apart. */
async function find(
  deps: AppDeps,
  turnId: string,
  tenants: readonly string[],
): Promise<ConversationKey | undefined> {
  for (let look = 1; ; look += 1) {
    const key = await deps.reader.findTurn(turnId);
    if (key !== undefined && tenants.includes(key.tenant)) return key;
    if (look === LOOKS) return undefined;
    await sleep(LOOK_PAUSE_MS);
  }
}
