/** The route by which services outside of the gateway wake an agent: `POST /api/agents/{agentId}/trigger`. */
import { randomUUID } from 'node:crypto';
import type { Request } from 'express';
import type { StampedActor } from '../../../protocol/values/actors.js';
import { idProblem, requestIdProblem } from '../../../protocol/values/ids.js';
import { isRecord, type Json } from '../../../protocol/values/json.js';
import { type Answer, answerToError, type Caller, refusal } from './callers.js';

/** Kind of the events by which agents get triggers. */
export const SERVICE_EVENT_KIND = 'service';
const MAX_NAME_CHARS = 200;
const FIELDS: readonly string[] = ['serviceName', 'payload', 'agent'];

/** The part of a conversation that the route uses. */
export interface TriggerConversation {
  sendEvent(
    event: { readonly eventId: string; readonly kind: string; readonly payload: Json },
    options: { readonly actor: StampedActor },
  ): Promise<{ readonly status: 'admitted' | 'queued' }>;
}

/** The part of `ConversationClient` that the route uses. */
export interface TriggerClient {
  conversation(
    id: string,
    options: { readonly tenant: string; readonly agent?: string },
  ): TriggerConversation;
}

interface Trigger {
  readonly serviceName: string;
  readonly payload: Json;
  /** Begins the conversation where there is none. */
  readonly agent?: string;
}

/**
 * Sends the trigger as an event of the agent's inbox. The `Idempotency-Key` is the id of the event, so that repeats
 * under one key are one event; without one each request is another event.
 * @throws errors that are not the client's own
 */
export async function triggerAgent(
  client: TriggerClient,
  request: Request,
  caller: Caller,
): Promise<Answer> {
  const trigger = triggerIn(request.body);
  if (typeof trigger === 'string') return refusal(400, trigger);
  const eventId = request.get('idempotency-key') ?? randomUUID();
  const keyProblem = requestIdProblem('Idempotency-Key', eventId);
  if (keyProblem !== undefined) return refusal(400, keyProblem);
  const agentEntityId = String(request.params['agentId']);
  const isOther = (caller.conversation ?? agentEntityId) !== agentEntityId;
  if (isOther || idProblem('agentId', agentEntityId) !== undefined) return NOT_FOUND;
  const { serviceName, payload, agent } = trigger;
  const of = { tenant: caller.tenant, ...(agent === undefined ? {} : { agent }) };
  try {
    const { status } = await client
      .conversation(agentEntityId, of)
      .sendEvent(
        { eventId, kind: SERVICE_EVENT_KIND, payload: { serviceName, payload } },
        { actor: caller.actor },
      );
    const taken = { success: true, agentEntityId, eventId };
    // Durable, and recorded by the next worker.
    if (status === 'queued') return { status: 202, body: { ...taken, queued: true } };
    return { status: 200, body: taken };
  } catch (error) {
    return answerTo(error);
  }
}

const NOT_FOUND = refusal(404, 'Agent not found');

/** The fields of a body, or the rule that one of them breaks. */
function triggerIn(given: unknown): Trigger | string {
  if (!isRecord(given)) return 'The body must be a JSON object';
  const { serviceName, payload, agent } = given;
  if (typeof serviceName !== 'string' || serviceName.trim() === '')
    return 'serviceName is required';
  if (serviceName.length > MAX_NAME_CHARS)
    return `serviceName must have at most ${MAX_NAME_CHARS} characters`;
  if (payload === undefined) return 'payload is required';
  const unknown = Object.keys(given).find((name) => !FIELDS.includes(name));
  if (unknown !== undefined) return `${unknown.slice(0, MAX_NAME_CHARS)} is not a field`;
  if (agent === undefined) return { serviceName, payload: payload as Json };
  const problem = typeof agent === 'string' ? idProblem('agent', agent) : 'agent must be a text';
  return problem ?? { serviceName, payload: payload as Json, agent: agent as string };
}

/** @throws the error itself where it is not the client's own */
function answerTo(error: unknown): Answer {
  const answer = answerToError(error);
  if (answer === undefined) throw error;
  const { code, problems } = error as {
    readonly code?: string;
    readonly problems?: readonly { readonly path: string }[];
  };
  if (code !== 'invalid_request') return answer.status === 404 ? NOT_FOUND : answer;
  // Without a name the client takes the agent of the conversation, and finds none.
  if (problems?.[0]?.path === '/agent') return NOT_FOUND;
  return { status: 400, body: { ...answer.body, ...(problems === undefined ? {} : { problems }) } };
}
