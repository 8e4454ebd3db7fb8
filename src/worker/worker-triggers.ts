/** The triggers of conversations, for the activities of a worker. */
import type { Client } from '@temporalio/client';
import type { TriggersPort } from '../activities/shared/deps.js';
import { ConversationError } from '../client/api/errors.js';
import { firstRunOf } from '../client/temporal/executions.js';
import { TemporalGateway } from '../client/temporal/temporal-gateway.js';
import { deliverTrigger } from '../client/triggers/deliver.js';
import { TriggerSchedules } from '../client/triggers/schedules.js';
import { ConversationTriggers } from '../client/triggers/triggers.js';
import type { AgentCatalog, AnyAgent } from '../define/define-agent.js';
import { triggerIds } from '../tools/shared/trigger-ids.js';

export function workerTriggers({
  client,
  taskQueue,
  agents,
  catalog,
}: {
  readonly client: Client;
  readonly taskQueue: string;
  readonly agents: readonly AnyAgent[];
  readonly catalog: AgentCatalog<never> | undefined;
}): TriggersPort {
  const gateway = new TemporalGateway({ temporal: client, taskQueue, searchAttributes: true });
  const schedules = new TriggerSchedules(client);
  const idleCloseMsOf = (name: string): number =>
    (agents.find((agent) => agent.name === name) ?? catalog?.template)?.settings.idleCloseMs ?? 0;
  return {
    deliver: (input) => deliverTrigger({ gateway, schedules }, input),
    ofCall: ({ tenant, conversationId, agent, requester, idempotencyKey }) =>
      new ConversationTriggers({
        ...{ key: { tenant, conversationId }, schedules, taskQueue, madeBy: 'agent' },
        createdBy: requester,
        nextId: triggerIds(idempotencyKey),
        conversation: async () => {
          const firstRunId = firstRunOf(await gateway.describe({ tenant, conversationId }));
          if (firstRunId !== undefined) return { firstRunId, idleCloseMs: idleCloseMsOf(agent) };
          const text = `Conversation "${conversationId}" does not run`;
          throw new ConversationError('conversation_closed', text);
        },
        toConversationError: (error) => gateway.toConversationError(error),
      }),
  };
}
