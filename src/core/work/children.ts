/** The work on conversations of sub-agents: rows of the table of effects. Pure. */
import type { ParentRef } from '../../protocol/conversation/children.js';
import type { EventBody } from '../../protocol/log/events.js';
import { childOf, openCallOf } from '../children/children.js';
import type { EffectOf } from '../decide/effects.js';
import { madeFields, requesterOf } from '../decide/tool-runs.js';
import {
  childEndedEvents,
  childIs,
  childLostEvents,
  childNotStartedEvents,
} from '../events/children.js';
import type { ChildRecord } from '../state/children.js';
import type { ConversationState } from '../state/state.js';
import { agentOf } from '../state/state.js';
import type { ChildWorkType, WorkRow } from './row.js';

export const CHILD_WORK: { readonly [Type in ChildWorkType]: WorkRow<Type> } = {
  start_child: {
    key: ({ childId }) => `child:${childId}`,
    activity: 'startChild',
    activityId: (_, { childId }) => `child:${childId}`,
    input: ({ state }, { childId }) => {
      const child = childOf(state, childId);
      if (child === undefined) return undefined;
      const call = openCallOf(state, child);
      const { tenant, conversationId } = state;
      const { toolCallId, name } = child;
      const agent = call === undefined ? state.agent : agentOf(state, call);
      return {
        ...{ tenant, conversationId, agent, toolCallId, name, childId },
        ...(call === undefined
          ? { input: null, unwanted: true as const }
          : {
              ...madeFields(state, call),
              input: call.plan.input ?? null,
              requester: requesterOf(state, call),
            }),
        childAgent: child.agent,
        granted: child.granted,
        parent: placeOf(state, child),
      };
    },
    completed: ({ state }, effect, result) =>
      endOf(state, effect, (child) =>
        result.started
          ? [childIs(child, 'started')]
          : childNotStartedEvents(state, child, result.error),
      ),
    lost: ({ state }, effect, { message }) =>
      endOf(state, effect, (child) => childLostEvents(state, child, message)),
    faulty: ({ state }, effect, message) =>
      endOf(state, effect, (child) => childLostEvents(state, child, message)),
  },
  stop_child: {
    key: ({ childId }) => `stop-child:${childId}`,
    activity: 'stopChild',
    activityId: (_, { childId }) => `stop-child:${childId}`,
    input: ({ state: { tenant, conversationId } }, { childId }) => ({
      ...{ tenant, conversationId, childId },
    }),
    completed: ({ state }, effect, { running }) =>
      endOf(state, effect, (child) =>
        running ? [childIs(child, 'stopping')] : childEndedEvents(state, child, undefined),
      ),
    // Nothing waits for the child any more; its spending stays unknown.
    lost: ({ state }, effect) =>
      endOf(state, effect, (child) => childEndedEvents(state, child, undefined)),
    faulty: ({ state }, effect) =>
      endOf(state, effect, (child) => childEndedEvents(state, child, undefined)),
  },
};

function placeOf(
  { parent, conversationId }: ConversationState,
  { toolCallId, name }: ChildRecord,
): ParentRef {
  const step = { conversationId, toolCallId, name };
  if (parent === undefined) return { root: conversationId, path: [step] };
  return { root: parent.root, path: [...parent.path, step] };
}

/** Empty when the child has ended in the meantime, or has begun. */
function endOf(
  state: ConversationState,
  { type, childId }: EffectOf<ChildWorkType>,
  events: (child: ChildRecord) => readonly EventBody[],
): readonly EventBody[] {
  const child = childOf(state, childId);
  const expected = type === 'start_child' ? 'starting' : 'started';
  return child?.status === expected ? events(child) : [];
}
