/** Delivers the event of a trigger: once, however often it is tried, and never starts a conversation. */
import { randomUUID } from 'node:crypto';
import { WorkflowNotFoundError } from '@temporalio/client';
import {
  type DeliverTriggerInput,
  type TriggerDelivery,
  triggerEventOf,
} from '../../protocol/triggers/triggers.js';
import type { ConversationKey } from '../../protocol/values/ids.js';
import { updateIdFor } from '../../protocol/workflow/update-ids.js';
import { confirmUpdate } from '../temporal/confirmed-update.js';
import { refusalOf } from '../temporal/errors.js';
import type { TemporalGateway } from '../temporal/temporal-gateway.js';
import type { TriggerSchedules } from './schedules.js';

export interface DeliverParts {
  readonly gateway: TemporalGateway;
  readonly schedules: TriggerSchedules;
}

/**
 * | what the conversation answers | outcome |
 * |---|---|
 * | admitted, or admitted before | `delivered`; a trigger without further events is removed |
 * | closed, deleted, or begun anew | `conversation_ended`; the trigger is removed |
 * | nothing, or its inbox is full | rejects: try again |
 *
 * @throws {ConversationError}
 */
export async function deliverTrigger(
  parts: DeliverParts,
  input: DeliverTriggerInput,
): Promise<TriggerDelivery> {
  const { gateway, schedules } = parts;
  const { tenant, conversationId, triggerId } = input;
  const key: ConversationKey = { tenant, conversationId };
  try {
    const isOpen = await wasAdmitted(gateway, key, input);
    const isLast = isOpen && (await schedules.find(key, triggerId))?.trigger.status === 'ended';
    if (!isOpen || isLast) await schedules.forget(key, triggerId);
    if (!isOpen) return { outcome: 'conversation_ended', removed: true };
    return { outcome: 'delivered', ...(isLast ? { removed: true } : {}) };
  } catch (error) {
    throw gateway.toConversationError(error);
  }
}

/** False when the conversation of the trigger has ended. */
async function wasAdmitted(
  gateway: TemporalGateway,
  key: ConversationKey,
  input: DeliverTriggerInput,
): Promise<boolean> {
  const event = triggerEventOf(input);
  const requestId = `${event.eventId}~${randomUUID()}`;
  const updateId = updateIdFor({ operation: 'inboxEvent', actor: event.actor.id, requestId });
  const unconfirmed = `The event of trigger "${input.triggerId}" was not confirmed, and may still be admitted`;
  const { firstRunId } = input;
  try {
    await confirmUpdate(gateway, key, {
      ...{ name: 'inboxEvent', input: event, updateId, unconfirmed, firstRunId },
    });
    return true;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false;
    const refusal = refusalOf(error);
    if (refusal?.type === 'duplicate') return true;
    if (refusal?.type === 'conversation_closed') return false;
    throw error;
  }
}
