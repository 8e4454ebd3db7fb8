/** Has a worker check an approver's edit. Part of the driver. */
import { isCancellation } from '@temporalio/workflow';
import { isAgentGone, lossError } from '../../core/calls/definitions.js';
import type { Loss } from '../../core/calls/results.js';
import { earlierResultsOf } from '../../core/context/turn-results.js';
import type { ExternalEffect } from '../../core/decide/effects.js';
import type { ConversationMachine } from '../../core/machine/machine.js';
import type { CheckEditInput, CheckEditResult } from '../../protocol/workflow/activities.js';
import { activities, CHECK_EDIT, summaryOf } from '../activities/schedule.js';

interface EditWork {
  readonly run: () => Promise<CheckEditResult>;
  readonly done: (result: CheckEditResult) => void;
  readonly failed: (error: unknown) => void;
}

/** Undefined when there is nothing to check. `lossOf` translates the failure of an activity. */
export function editWork(
  machine: ConversationMachine,
  effect: Extract<ExternalEffect, { type: 'check_edit' }>,
  lossOf: (error: unknown) => Loss,
): EditWork | undefined {
  const { toolCallId } = effect;
  const { tenant, conversationId, agent, calls, turn } = machine.state;
  const call = calls[toolCallId];
  // A detached call may have outlived its turn.
  const requester = call?.asker?.requester ?? turn?.requester;
  if (call?.edit === undefined || requester === undefined) return undefined;
  const { turnId, step, plan, edit } = call;
  const { name, mcp } = plan;
  const input: CheckEditInput = {
    ...{ tenant, conversationId, agent, turnId, step, toolCallId, name },
    ...(mcp === undefined ? {} : { mcp }),
    input: edit.input,
    requester,
    ...earlierResultsOf(machine.state, turnId),
  };
  const summary = summaryOf(`check edited input of ${name} (${toolCallId})`);
  return {
    run: () => activities.checkEdit.executeWithOptions({ ...CHECK_EDIT, summary }, [input]),
    done: (outcome) => {
      machine.editChecked(effect, outcome);
    },
    failed: (error) => {
      if (isCancellation(error)) return;
      // Without a worker to check it, the edit is rejected and the call is open again.
      const loss = lossOf(error);
      if (isAgentGone(loss)) {
        machine.editChecked(effect, { ok: false, ended: lossError(name, loss) });
        return;
      }
      const message = `could not be checked: ${loss.message}`;
      machine.editChecked(effect, {
        ok: false,
        problems: [{ path: '/resolution/input', message }],
      });
    },
  };
}
