/** Takes events of other systems. Each event id enters the conversation once, for the model to read. */
import type { Request, Response, Router } from 'express';
import { invalidField } from '../../client/api/errors.js';
import { actorOf } from '../identity/callers.js';
import type { AppDeps } from '../request/deps.js';
import { parseBody, requestIdOf } from '../request/parse.js';
import { addRoute } from '../request/router.js';
import { conversationOf } from '../request/tenants.js';
import { InboxEventSchema } from '../schemas/bodies.js';
import { ofBegun } from './conversations.js';

/**
 * | answer | when |
 * |---|---|
 * | 200 `admitted` | recorded; `duplicate` if it was recorded before |
 * | 202 `queued` | no worker answered in 3 s; the event is durable, and the next worker records it |
 * | 404, 409, 410, 422, 429 | a problem that states the reason |
 */
export function addInboxRoutes(router: Router, deps: AppDeps): void {
  addRoute(router, '/v1/conversations/:id/inbox', {
    post: async (request, response) => {
      await sendInboxEvent(deps, request, response);
    },
  });
}

async function sendInboxEvent(deps: AppDeps, request: Request, response: Response): Promise<void> {
  const { agent, actor, kind, payload, ...body } = parseBody(InboxEventSchema, request);
  const eventId = eventIdOf(request, body.eventId);
  const conversation = conversationOf(deps, request, { agent });
  const conversationId = conversation.id;
  const unknown = `No conversation "${conversationId}". With an agent, the event starts one`;
  const event = { eventId, kind, payload };
  const delivered = await ofBegun(unknown, () =>
    conversation.sendEvent(event, { actor: actorOf(request, actor) }),
  );
  response.status(delivered.status === 'queued' ? 202 : 200).json({ conversationId, ...delivered });
}

function eventIdOf(request: Request, inBody: string | undefined): string {
  const header = request.get('idempotency-key');
  if (inBody !== undefined && header !== undefined && inBody !== header)
    throw invalidField('/eventId', 'must equal the Idempotency-Key header, or be left out');
  const { requestId } = requestIdOf(request, inBody);
  if (requestId === undefined)
    throw invalidField('/eventId', 'is required: the id makes repeats one event');
  return requestId;
}
