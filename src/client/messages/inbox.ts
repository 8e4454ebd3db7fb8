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
import { findEvent } from '../reading/log-search.js';
import { isClosedRun, refusalOf } from '../temporal/errors.js';
import type { StartPolicy, StartRequest } from '../temporal/start-options.js';
import type { TemporalGateway } from '../temporal/temporal-gateway.js';
import { FRESH, isClosedInLog, MAX_ROUNDS, type SendParts, startAgain } from './send.js';

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
  const { gateway, reader } = parts;
  const { key, input } = request;
  const again = (): ReturnType<typeof startAgain<InboxEventReply>> =>
    startAgain(parts, { key, reopen: false }, () => findEvent(reader, key, input));
  let start = (await isClosedInLog(parts, request)) ? await again() : FRESH;
  for (let round = 1; ; round += 1) {
    if ('status' in start) return { status: 'admitted', ...start.reply, duplicate: true };
    try {
      return await tryOnce(gateway, request, start);
    } catch (error) {
      const refusal = refusalOf(error);
      if (refusal?.type === 'duplicate')
        return { status: 'admitted', ...(refusal.detail as InboxEventReply), duplicate: true };
      if (refusal !== undefined || !isClosedRun(error) || round >= MAX_ROUNDS)
        throw gateway.toConversationError(error);
    }
    start = await again();
  }
}

async function tryOnce(
  gateway: TemporalGateway,
  { key, manifest, input }: SendEventRequest,
  start: StartPolicy,
): Promise<EventSent> {
  const { eventId } = input;
  const request: StartRequest = {
    ...{ key, manifest, start },
    input: { ...input, agent: manifest.name },
    operation: 'inboxEvent',
    updateId: updateIdFor({
      operation: 'inboxEvent',
      actor: input.actor.id,
      requestId: `${eventId}~${randomUUID()}`,
    }),
  };
  const tried = await gateway.confirm(() => gateway.sendWithStart<'inboxEvent'>(request), { key });
  if (tried.confirmed) return { status: 'admitted', ...tried.value, duplicate: false };
  await gateway.signalWithStart(request);
  const { reason, text } = await gateway.whyUnanswered(key);
  return { status: 'queued', eventId, reason, warning: text };
}
