/** The conversations of sub-agents in Temporal: started, closed and reported by signals, which need no worker. */
import {
  type Client,
  WorkflowExecutionAlreadyStartedError,
  WorkflowNotFoundError,
} from '@temporalio/client';
import type { ChildConversations } from '../activities/shared/deps.js';
import {
  type ConversationWorkflow,
  type StartDefaults,
  startOptions,
} from '../client/temporal/start-options.js';
import { SYSTEM_ACTOR } from '../protocol/values/actors.js';
import { type ConversationKey, workflowIdFor } from '../protocol/values/ids.js';
import { SIGNALS, WORKFLOW_TYPE } from '../protocol/workflow/messaging.js';

export function createChildConversations(
  client: Client,
  defaults: StartDefaults,
): ChildConversations {
  const handleOf = (key: ConversationKey) => client.workflow.getHandle(workflowIdFor(key));
  return {
    start: async ({ key, manifest, input, parent }) => {
      const start = { reuse: 'REJECT_DUPLICATE' } as const;
      const request = { key, manifest, input, start, parent, updateId: '' };
      try {
        await client.workflow.signalWithStart<ConversationWorkflow, [typeof input]>(WORKFLOW_TYPE, {
          ...startOptions(request, defaults),
          workflowIdConflictPolicy: 'USE_EXISTING',
          signal: SIGNALS.sendMessage,
          signalArgs: [input],
        });
      } catch (error) {
        // The conversation has ended already, and has reported that or is about to.
        if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
      }
    },
    close: (key) =>
      orGone(() => handleOf(key).signal(SIGNALS.closeConversation, { actor: SYSTEM_ACTOR })),
    report: (key, input) => orGone(() => handleOf(key).signal(SIGNALS.childEnded, input)),
  };
}

/** False where the workflow does not run. */
async function orGone(call: () => Promise<void>): Promise<boolean> {
  try {
    await call();
    return true;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false;
    throw error;
  }
}
