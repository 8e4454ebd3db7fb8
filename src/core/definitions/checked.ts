/** What follows when a worker has judged a call by the present definition of its tool. Pure. */
import type { CheckDefinitionResult } from '../../protocol/definitions/changes.js';
import type { EventBody } from '../../protocol/events.js';
import { TEXTS } from '../../protocol/texts.js';
import type { ToolResultError } from '../../protocol/tools.js';
import { decideOffer, plannedErrorResult } from '../decide.js';
import { isInternal } from '../effects.js';
import { errorResult, resultEvent } from '../event-bodies.js';
import { internalEvents, type Loss } from '../outcomes.js';
import type { CallState, ConversationState } from '../state.js';
import { changedEvent, migratedEvent } from './changes.js';

/** `nowMs`: when a wait that is opened by it begins. */
export function definitionCheckedEvents(
  state: ConversationState,
  call: CallState,
  { outcome, nowMs }: { readonly outcome: CheckDefinitionResult; readonly nowMs: number },
): readonly EventBody[] {
  const isKnown = call.changed !== undefined;
  switch (outcome.outcome) {
    case 'same':
      return isKnown ? [severalDefinitions(call)] : offerEvents(state, call, nowMs);
    case 'migrated':
      return [
        ...(isKnown ? [] : changedEvent(call, outcome.definition)),
        migratedEvent(call, outcome.call),
      ];
    case 'ended': {
      const { definition, error } = outcome;
      const changed = isKnown || definition === undefined ? [] : changedEvent(call, definition);
      return [...changed, resultEvent(call, plannedErrorResult(error))];
    }
  }
}

function offerEvents(
  state: ConversationState,
  call: CallState,
  nowMs: number,
): readonly EventBody[] {
  return decideOffer(call)
    .filter(isInternal)
    .flatMap((effect) => internalEvents(state, effect, nowMs));
}

/** A run was refused by one worker, and another says that nothing has changed: neither can be relied upon. */
function severalDefinitions(call: CallState): EventBody {
  const { name } = call.plan;
  const problem = 'workers with different definitions of it run side by side';
  const message = TEXTS.definitionChanged(name, problem);
  return resultEvent(call, errorResult('errored', { code: 'definition_changed', message }));
}

/** No worker could look at it: it is neither run nor offered unchecked. */
export function definitionNotCheckedEvents(call: CallState, loss: Loss): readonly EventBody[] {
  return [resultEvent(call, errorResult('errored', lossError(call.plan.name, loss)))];
}

/** No worker that took the work has the agent. */
export function isAgentGone({ code }: Loss): boolean {
  return code === 'unknown_agent';
}

/** An agent that no worker has is told by its name. */
export function lossError(name: string, loss: Loss): ToolResultError {
  return isAgentGone(loss)
    ? { code: 'not_available', message: TEXTS.agentNotServed(name, loss.message) }
    : { code: 'tool_crashed', message: TEXTS.toolCrashed(loss.message) };
}
