/** Requests to the model: rows of the table of effects. Pure. */
import { MAX_READ_BOUNDS_BYTES } from '../../protocol/limits/limits.js';
import { utf8Bytes } from '../../protocol/values/json.js';
import type { CallModelInput, ReadBounds } from '../../protocol/workflow/activities.js';
import { heldBytesOf, markOf } from '../context/carry-over.js';
import { summarizable } from '../context/summaries.js';
import { modelEndedEvents } from '../events/model-calls.js';
import { summarizedEvents } from '../events/summaries.js';
import { offeredReads } from '../events/tool-runs.js';
import { remembersAllCalls } from '../memory/memory.js';
import { statesRef } from '../plugins/states.js';
import { inboxPreview } from '../state/inbox-turns.js';
import { type ConversationState, isSequential } from '../state/state.js';
import type { WorkRow } from './row.js';

function previewOf(state: ConversationState): Pick<CallModelInput, 'inboxPreview'> {
  const preview = inboxPreview(state);
  return preview === undefined ? {} : { inboxPreview: preview };
}

/**
 * The part of the state by which a worker judges which calls of an answer may run at once; empty where no call may run
 * inside the activity.
 */
export function readBoundsOf(state: ConversationState): Pick<CallModelInput, 'reads'> {
  const { turn, settings } = state;
  if (turn === undefined || isSequential(state)) return {};
  const { coreRevision, budgets, repeatLimit, onToolError, onUnknownTool } = settings;
  const { calls, callsOf } = budgets ?? {};
  const bounds: ReadBounds = {
    coreRevision,
    ...(calls === undefined ? {} : { calls }),
    ...(callsOf === undefined ? {} : { callsOf }),
    ...(repeatLimit === undefined ? {} : { repeatLimit }),
    ...(onToolError === undefined ? {} : { onToolError }),
    ...(onUnknownTool === undefined ? {} : { onUnknownTool }),
    ...(turn.spent === undefined ? {} : { spent: neededOf(turn.spent, repeatLimit) }),
    ...(remembersAllCalls(state) ? {} : { forgetsCalls: true }),
  };
  const isSmall = utf8Bytes(JSON.stringify(bounds)) <= MAX_READ_BOUNDS_BYTES;
  return isSmall ? { reads: bounds } : {};
}

/** Drops the counts of single calls unless repetitions are limited: there are many more of them than of tools. */
function neededOf(
  { byTool, byCall }: NonNullable<ReadBounds['spent']>,
  repeatLimit: number | undefined,
): NonNullable<ReadBounds['spent']> {
  return { byTool, byCall: repeatLimit === undefined ? {} : byCall };
}

type ModelWorkType = 'call_model' | 'summarize';

export const MODEL_WORK: { readonly [Type in ModelWorkType]: WorkRow<Type> } = {
  call_model: {
    key: ({ turnId, step }) => `model:${turnId}:${step}`,
    activity: 'callModel',
    activityId: (_, { turnId, step }) => `model:${turnId}:${step}`,
    input: ({ state, transcript }, { turnId, step }) => {
      const { turn, tenant, conversationId, agent } = state;
      if (turn === undefined) return undefined;
      return {
        tenant,
        conversationId,
        agent,
        turnId,
        step,
        transcript: transcript.next(state),
        requester: turn.requester,
        ...(turn.outputSchema === undefined ? {} : { output: turn.outputSchema }),
        ...statesRef(state, 'calledBefore'),
        ...markOf(state),
        ...heldBytesOf(state),
        ...readBoundsOf(state),
        ...previewOf(state),
      };
    },
    completed: ({ state }, at, outcome) => modelEndedEvents(state, at, { outcome }),
    lost: ({ state }, at, loss) => modelEndedEvents(state, at, loss),
    faulty: ({ state }, at, message) =>
      modelEndedEvents(state, at, { error: { code: 'internal', message } }),
    reads: offeredReads,
  },
  summarize: {
    key: ({ ordinal }) => `summarize:${ordinal}`,
    // Without an id: an abandoned activity may still run when the next is started.
    activity: 'summarize',
    input: ({ state, transcript }, { ordinal }) => {
      const { tenant, conversationId, agent } = state;
      const front = transcript.front(state, summarizable(state));
      return { tenant, conversationId, agent, ordinal, transcript: front };
    },
    // Empty when the summary cannot be used: it covers turns that are missing or not old enough.
    completed: ({ state }, { ordinal }, made) =>
      state.closed ? [] : summarizedEvents(state, ordinal, made),
    lost: () => [],
    faulty: () => [],
  },
};
