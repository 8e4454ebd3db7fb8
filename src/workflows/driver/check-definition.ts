/** Has a call judged by the tool definition that workers have now. Part of the driver. */
import { isCancellation } from '@temporalio/workflow';
import type { Loss } from '../../core/calls/results.js';
import { earlierResultsOf } from '../../core/context/turn-results.js';
import type { ExternalEffect } from '../../core/decide/effects.js';
import type { ConversationMachine } from '../../core/machine/machine.js';
import type {
  CheckDefinitionInput,
  CheckDefinitionResult,
} from '../../protocol/calls/definitions.js';
import { activities, CHECK_DEFINITION, summaryOf } from '../activities/schedule.js';

interface DefinitionWork {
  readonly run: () => Promise<CheckDefinitionResult>;
  readonly done: (result: CheckDefinitionResult) => void;
  readonly failed: (error: unknown) => void;
}

/** Undefined when there is nothing to check. `lossOf` translates the failure of an activity. */
export function definitionWork(
  machine: ConversationMachine,
  effect: Extract<ExternalEffect, { type: 'check_definition' }>,
  lossOf: (error: unknown) => Loss,
): DefinitionWork | undefined {
  const { toolCallId } = effect;
  const { tenant, conversationId, agent, calls, turn } = machine.state;
  const call = calls[toolCallId];
  // A detached call may have outlived its turn.
  const requester = call?.asker?.requester ?? turn?.requester;
  if (call === undefined || requester === undefined) return undefined;
  const { turnId, step, plan, changed } = call;
  const { name, executor, raw, definition, mcp, input = null } = plan;
  const check: CheckDefinitionInput = {
    ...{ tenant, conversationId, agent, turnId, step },
    call: {
      ...{ toolCallId, name, executor, input },
      ...(raw === undefined ? {} : { raw }),
      ...(definition === undefined ? {} : { definition }),
      ...(mcp === undefined ? {} : { mcp }),
    },
    requester,
    ...earlierResultsOf(machine.state, turnId),
    ...(changed === undefined ? {} : { found: changed.definition }),
  };
  const summary = summaryOf(`check definition of ${name} (${toolCallId})`);
  return {
    run: () =>
      activities.checkDefinition.executeWithOptions({ ...CHECK_DEFINITION, summary }, [check]),
    done: (outcome) => {
      machine.definitionChecked(toolCallId, outcome);
    },
    failed: (error) => {
      if (!isCancellation(error)) machine.definitionNotChecked(toolCallId, lossOf(error));
    },
  };
}
