/** Revokes remembered decisions. Never starts a workflow. */
import { randomUUID } from 'node:crypto';
import { WorkflowNotFoundError } from '@temporalio/client';
import type { RevokeRuleReply } from '../../protocol/calls/rules.js';
import type { StampedActor } from '../../protocol/values/actors.js';
import type { ConversationKey } from '../../protocol/values/ids.js';
import { updateIdFor } from '../../protocol/workflow/update-ids.js';
import { checkRequestId } from '../api/checks.js';
import { ConversationError } from '../api/errors.js';
import type { RevokeOptions } from '../api/types.js';
import { assertExists } from '../messages/control.js';
import type { ConversationReader } from '../ports/reader.js';
import type { ReadYourWrites } from '../reading/read-your-writes.js';
import { confirmUpdate } from '../temporal/confirmed-update.js';
import type { TemporalGateway } from '../temporal/temporal-gateway.js';

interface RevokeParts {
  readonly key: ConversationKey;
  readonly gateway: TemporalGateway;
  readonly reader: ConversationReader;
  readonly known: ReadYourWrites;
  readonly stamp: (actor: RevokeOptions['actor']) => StampedActor;
}

/**
 * Revokes a rule. A repeat finds no such rule, unless it has the same `requestId` and reaches the same run.
 * @throws {ConversationError} unknown_rule; conversation_closed when it does not run; no_worker when no worker confirmed: the
 *   server may still pass the request to the next worker, so repeat it with the same `requestId`
 */
export async function revokeRule(
  parts: RevokeParts,
  ruleId: string,
  options: RevokeOptions,
): Promise<RevokeRuleReply> {
  const { key, gateway, known } = parts;
  const requestId = checkRequestId(options.requestId ?? randomUUID());
  const actor = parts.stamp(options.actor);
  const updateId = updateIdFor({
    operation: 'revokeRule',
    callId: ruleId,
    actor: actor.id,
    requestId,
  });
  const input = { ruleId, requestId, actor };
  const unconfirmed = 'Revoking was not confirmed, and may still happen';
  try {
    const update = { name: 'revokeRule', input, updateId, unconfirmed } as const;
    const reply = await confirmUpdate(gateway, key, update);
    known.note(key, reply.seq);
    return reply;
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw gateway.toConversationError(error);
    await assertExists(parts, key);
    throw new ConversationError(
      'conversation_closed',
      'The conversation is closed, so its rules are no longer in use',
    );
  }
}
