/**
 * Sends an event of another system: starts the conversation or continues it. Safe to repeat: its id makes it one event.
 */
import { randomUUID } from 'node:crypto';
import type { AgentManifest } from '../../protocol/conversation/agents.js';
import {
  type InboxEventInput,
  type InboxEventReply,
  inboxFieldProblems,
} from '../../protocol/conversation/inbox.js';
import type { StampedActor } from '../../protocol/values/actors.js';
import type { ConversationKey } from '../../protocol/values/ids.js';
import { updateIdFor } from '../../protocol/workflow/update-ids.js';
import { ConversationError } from '../api/errors.js';
import type { EventSent } from '../api/types.js';
import { isClosedRun, refusalOf } from '../temporal/errors.js';
import type { StartRequest } from '../temporal/start-options.js';
import { isClosedInLog, type SendParts } from './send.js';

export interface SendEventRequest {
  readonly key: ConversationKey;
  readonly manifest: AgentManifest;
  readonly input: InboxEventInput & { readonly actor: StampedActor };
}

/** @throws {ConversationError} invalid_request with every field that breaks a rule. */
export function checkEvent(input: InboxEventInput): void {
  const problems = inboxFieldProblems(input);
  const [first] = problems;
  if (first === undefined) return;
  const why = `${first.path.slice(1)} ${first.message}`;
  throw new ConversationError('invalid_request', `The event cannot be sent: ${why}`, { problems });
}

/** @throws {ConversationError} with the code of the refusal; temporal_unreachable when not even a signal could be left. */
export async function sendInboxEvent(
  parts: SendParts,
  request: SendEventRequest,
): Promise<EventSent> {
  const { gateway } = parts;
  const { key, manifest, input } = request;
  const { eventId } = input;
  const start: StartRequest = {
    key,
    manifest,
    input: { ...input, agent: manifest.name },
    operation: 'inboxEvent',
    updateId: updateIdFor({
      operation: 'inboxEvent',
      actor: input.actor.id,
      requestId: `${eventId}~${randomUUID()}`,
    }),
    start: { reuse: 'REJECT_DUPLICATE' },
  };
  if (await isClosedInLog(parts, request)) throw closed(key);
  try {
    const tried = await gateway.confirm(() => gateway.sendWithStart<'inboxEvent'>(start), { key });
    if (tried.confirmed) return { status: 'admitted', ...tried.value, duplicate: false };
    await gateway.signalWithStart(start);
    const { reason, text } = await gateway.whyUnanswered(key);
    return { status: 'queued', eventId, reason, warning: text };
  } catch (error) {
    const refusal = refusalOf(error);
    if (refusal?.type === 'duplicate')
      return { status: 'admitted', ...(refusal.detail as InboxEventReply), duplicate: true };
    if (refusal === undefined && isClosedRun(error)) throw closed(key, error);
    throw gateway.toConversationError(error);
  }
}

function closed(key: ConversationKey, cause?: unknown): ConversationError {
  const text = `Conversation "${key.conversationId}" is closed; a message with reopen opens it again`;
  return new ConversationError('conversation_closed', text, { cause });
}
