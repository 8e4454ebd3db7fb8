/** Updates by which workers report to conversations: one that the conversation refuses leaves no history. */
import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { refusalOf } from '../../client/temporal/errors.js';
import { UPDATE_DEADLINE_MS } from '../../protocol/limits/service-limits.js';
import { type ConversationKey, workflowIdFor } from '../../protocol/values/ids.js';
import type { UpdateTypes } from '../../protocol/workflow/messaging.js';
import { updateIdFor } from '../../protocol/workflow/update-ids.js';

export interface RefusableUpdate<Name extends keyof UpdateTypes> {
  readonly name: Name;
  readonly callId: string;
  /** A repeat under the same id is the same update. */
  readonly requestId: string;
  readonly input: UpdateTypes[Name]['input'];
}

/** False when the conversation does not run, or refuses the update. Rejects when no worker answers. */
export async function isTaken<Name extends keyof UpdateTypes>(
  client: Client,
  key: ConversationKey,
  { name, callId, requestId, input }: RefusableUpdate<Name>,
): Promise<boolean> {
  const updateId = updateIdFor({ operation: name, callId, requestId });
  const handle = client.workflow.getHandle(workflowIdFor(key));
  try {
    await client.withDeadline(Date.now() + UPDATE_DEADLINE_MS, () =>
      handle.executeUpdate<unknown, [typeof input]>(name, { updateId, args: [input] }),
    );
    return true;
  } catch (error) {
    // Only a verdict is the conversation's refusal: an update that met a roll-over fails, too, and was never processed.
    const isRefused = refusalOf(error)?.type === 'verdict';
    if (isRefused || error instanceof WorkflowNotFoundError) return false;
    throw error;
  }
}
