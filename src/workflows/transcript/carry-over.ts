/** The state that goes from one run to the next, and how a run begins with it. */
import { workflowInfo } from '@temporalio/workflow';
import { fromCarryOver, toCarryOver } from '../../core/context/carry-over.js';
import { chunkIdsIn } from '../../core/context/offloaded.js';
import { type Opening, openingOf } from '../../core/machine/opening.js';
import type { ConversationState } from '../../core/state/state.js';
import { isoOf } from '../../core/state/time.js';
import {
  CARRIED_VERSION,
  type UnacknowledgedOffload,
} from '../../protocol/conversation/offloaded-messages.js';
import type { CanonicalEvent, ConversationStarted } from '../../protocol/log/events.js';
import { chainOf } from '../../protocol/values/ids.js';
import type { CarriedState, ConversationInput } from '../../protocol/workflow/messaging.js';

/** Returns state and events at the beginning of a run. */
export function initialState(input: ConversationInput): Opening {
  const { carried, reopen, tenant, conversationId, agent } = input;
  const version: number = carried?.version ?? CARRIED_VERSION;
  if (version !== CARRIED_VERSION)
    throw new TypeError(
      `carried state of version ${version} needs ${version > CARRIED_VERSION ? 'a newer' : 'an older'} worker: this one reads version ${CARRIED_VERSION}`,
    );
  const before = carried === undefined ? undefined : fromCarryOver(carried);
  const unconfirmed = carried?.events ?? [];
  if (before !== undefined && reopen === undefined) return { state: before, events: unconfirmed };
  // A message for another agent is refused, and must not change the settings for a message beside it.
  const settings =
    before === undefined || before.agent === agent ? input.settings : before.settings;
  const started: ConversationStarted = {
    type: 'conversation_started',
    tenant,
    conversationId,
    // A conversation never changes its agent.
    agent: before?.agent ?? agent,
    chain: chainOf(workflowInfo().firstExecutionRunId),
    settings,
    ...(before === undefined && input.parent !== undefined ? { parent: input.parent } : {}),
    ...(carried?.droppedMessages === undefined ? {} : { droppedMessages: carried.droppedMessages }),
  };
  const { state, events } = openingOf(before, started, isoOf(Date.now()));
  return { state, events: [...unconfirmed, ...events] };
}

interface NotInState {
  readonly unconfirmed: readonly CanonicalEvent[];
  /** Every chunk that may be in the store. */
  readonly knownChunks: ReadonlySet<string>;
  /** Orders to store that were not acknowledged. */
  readonly unacknowledged: readonly UnacknowledgedOffload[];
}

/** Returns the input of the next run: the state as it is, and the events that the store has not confirmed. */
export function nextInput(
  input: ConversationInput,
  state: ConversationState,
  rest: NotInState,
): ConversationInput {
  const { tenant, conversationId, agent, settings, model, searchAttributes } = input;
  const { offload, rollOver } = input;
  return {
    tenant,
    conversationId,
    agent,
    settings,
    ...(model === undefined ? {} : { model }),
    ...(searchAttributes === undefined ? {} : { searchAttributes }),
    ...(offload === undefined ? {} : { offload }),
    ...(rollOver === undefined ? {} : { rollOver }),
    carried: carriedState(state, rest),
  };
}

function carriedState(state: ConversationState, rest: NotInState): CarriedState {
  const used = chunkIdsIn(state.transcript);
  const unusedChunks = [...rest.knownChunks].filter((id) => !used.has(id));
  return {
    ...toCarryOver(state),
    events: rest.unconfirmed,
    ...(unusedChunks.length === 0 ? {} : { unusedChunks }),
    ...(rest.unacknowledged.length === 0 ? {} : { unacknowledged: rest.unacknowledged }),
  };
}
