/** Changes the view of a conversation with the events of single calls. Pure. */

import type { InputMigrated } from '../../protocol/calls/definitions.js';
import { isRunByWorker } from '../../protocol/calls/executors.js';
import type { InFlightTool, PlannedCall } from '../../protocol/calls/plan.js';
import type { PendingCall, Suspension } from '../../protocol/calls/suspensions.js';
import type { ConversationSnapshot } from '../../protocol/conversation/conversation.js';
import type { CanonicalEvent } from '../../protocol/log/events.js';
import { formatRef } from '../../protocol/values/ids.js';
import { withClaim, withMovedEnd, withoutClaim } from '../calls/claim.js';
import { withOffer } from '../calls/definitions.js';
import { needsPreflight } from '../calls/preflight.js';

type CallEvent = Extract<
  CanonicalEvent,
  {
    type:
      | 'tool_call'
      | 'call_planned'
      | 'suspension'
      | 'call_prepared'
      | 'resolution'
      | 'input_edited'
      | 'input_migrated'
      | 'suspension_changed'
      | 'expired'
      | 'extended'
      | 'claimed'
      | 'lease_lost'
      | 'tool_result'
      | 'inbox_event';
  }
>;

export function callChanged(view: ConversationSnapshot, event: CallEvent): ConversationSnapshot {
  switch (event.type) {
    case 'call_planned':
    case 'tool_call': {
      const { call } = event;
      const isDue = call.error === undefined && call.unplanned === undefined;
      const runs =
        isDue &&
        (needsPreflight({ plan: call }) || (isRunByWorker(call.executor) && !call.approval.needed));
      return runs
        ? withInFlight(view, { ...call, turnId: event.turnId, ...detachedBy(call) })
        : view;
    }
    case 'suspension': {
      return callSuspended(view, event.suspension);
    }
    case 'resolution': {
      const { rule, toolCallId, turnId } = event;
      const suspended =
        rule === undefined
          ? view.pending.find((entry) => entry.toolCallId === toolCallId)
          : { ...rule, toolCallId, turnId };
      const rest = { ...view, pending: without(view.pending, event) };
      const { resolution } = event;
      // A resolution lets a server tool run on, unless the call is denied or its edit is yet to be checked.
      const isHeld =
        resolution.type === 'deny' ||
        (resolution.type === 'approve' && resolution.input !== undefined);
      const runs = !isHeld && suspended !== undefined && isRunByWorker(suspended.executor);
      return runs ? withInFlight(rest, suspended) : rest;
    }
    case 'input_edited':
      return isRunByWorker(event.executor) ? withInFlight(view, event) : view;
    case 'input_migrated':
      return callMigrated(view, event);
    case 'suspension_changed':
      return withPending(view, event, (entry) => withOffer(entry, event));
    case 'call_prepared':
      return { ...view, inFlightTools: without(view.inFlightTools, event) };
    case 'expired':
      return callEnded(view, event.toolCallId);
    case 'extended':
      return withPending(view, event, (entry) => withMovedEnd(entry, event));
    case 'claimed':
      return withPending(view, event, (entry) => withClaim(entry, event));
    case 'lease_lost':
      return withPending(view, event, withoutClaim);
    case 'inbox_event':
      return event.toolCallId === undefined ? view : callEnded(view, event.toolCallId);
    case 'tool_result':
      return event.result.status === 'detached'
        ? callDetached(view, event.toolCallId)
        : callEnded(view, event.toolCallId);
  }
}

function callSuspended(view: ConversationSnapshot, suspension: Suspension): ConversationSnapshot {
  // The engine itself works on the call of a sub-agent.
  if (suspension.childId !== undefined) return withInFlight(view, suspension);
  const opened = pendingOf(view, suspension);
  return {
    ...view,
    pending: [...without(view.pending, opened), opened],
    inFlightTools: without(view.inFlightTools, opened),
  };
}

/** Keeps the call in flight only where it needs no new approval. */
function callMigrated(view: ConversationSnapshot, event: InputMigrated): ConversationSnapshot {
  const { executor, approval, preflight } = event;
  const runs = preflight === true || (isRunByWorker(executor) && !approval.needed);
  return runs
    ? withInFlight(view, event)
    : { ...view, inFlightTools: without(view.inFlightTools, event) };
}

function withPending(
  view: ConversationSnapshot,
  { toolCallId }: { readonly toolCallId: string },
  change: (entry: PendingCall) => PendingCall,
): ConversationSnapshot {
  const pending = view.pending.map((entry) =>
    entry.toolCallId === toolCallId ? change(entry) : entry,
  );
  return { ...view, pending };
}

/** Marks the call as detached: no turn waits for it any more, but it stays pending. */
function callDetached(view: ConversationSnapshot, toolCallId: string): ConversationSnapshot {
  const pending = view.pending.map((entry) =>
    entry.toolCallId === toolCallId ? { ...entry, detached: true as const } : entry,
  );
  return { ...view, pending };
}

function callEnded(view: ConversationSnapshot, toolCallId: string): ConversationSnapshot {
  const call = { toolCallId };
  return {
    ...view,
    pending: without(view.pending, call),
    inFlightTools: without(view.inFlightTools, call),
  };
}

function detachedBy(call: PlannedCall): { detached?: true } {
  return call.mode === 'detach' ? { detached: true } : {};
}

function pendingOf(view: ConversationSnapshot, suspension: Suspension): PendingCall {
  const { tenant, conversationId } = view;
  return {
    ...suspension,
    ref: formatRef({ tenant, conversationId, toolCallId: suspension.toolCallId }),
  };
}

function withInFlight(view: ConversationSnapshot, call: InFlightTool): ConversationSnapshot {
  const { toolCallId, name, executor, turnId, detached, childId } = call;
  const flag = detached === undefined ? {} : { detached };
  const child = childId === undefined ? {} : { childId };
  const entry: InFlightTool = { toolCallId, name, executor, turnId, ...flag, ...child };
  return { ...view, inFlightTools: [...without(view.inFlightTools, call), entry] };
}

function without<Entry extends { readonly toolCallId: string }>(
  entries: readonly Entry[],
  gone: { readonly toolCallId: string },
): readonly Entry[] {
  return entries.filter((entry) => entry.toolCallId !== gone.toolCallId);
}
