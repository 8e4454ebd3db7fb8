/**
 * Decides whether an actor may resolve a call: a pure function of the call's plan, the turn and the actor. Never
 * throws.
 */

import type { PlannedCall, SubAgentPlan } from '../../protocol/calls/plan.js';
import type { ResolutionType } from '../../protocol/calls/resolutions.js';
import { RESOLVES } from '../../protocol/calls/resolutions.js';
import type { SuspensionKind } from '../../protocol/calls/suspensions.js';
import type { EventBody, InboxEvent } from '../../protocol/log/events.js';
import type { JudgedActor, StampedActor } from '../../protocol/values/actors.js';
import type { Audience } from '../../protocol/values/audience.js';
import { REQUESTER } from '../../protocol/values/audience.js';
import type { CallState } from '../state/calls.js';
import type { ConversationState } from '../state/state.js';
import { askAudience } from './ask.js';

/**
 * Audience of a suspension of this kind; undefined admits every actor. The audience of an approval does not apply to
 * the phase after it.
 */
export function audienceOf(plan: PlannedCall, kind: SuspensionKind): Audience | undefined {
  if (kind !== 'approval') return plan.answerAudience;
  return plan.approval.needed ? plan.approval.audience : undefined;
}

/**
 * Why the actor may not send a resolution of this type, or undefined. A known type names the phase that it is meant
 * for, even when another phase is open by now; for an unknown type the open phase counts.
 */
export function forbiddenReason(
  state: ConversationState,
  by: {
    readonly call: CallState;
    readonly type: ResolutionType | undefined;
    readonly actor: StampedActor;
  },
): string | undefined {
  const { call, type, actor } = by;
  const kind = type === undefined ? call.suspension?.kind : RESOLVES[type][0];
  if (type !== undefined && kind !== 'approval' && call.plan.subAgent !== undefined)
    return subAgentReason(call.plan.subAgent);
  const audience =
    kind === undefined ? undefined : (askAudience(call, kind) ?? audienceOf(call.plan, kind));
  return audience === undefined
    ? undefined
    : outsideReason(audience, actor, requestersOf(state, call));
}

export function subAgentReason({ agent }: SubAgentPlan): string {
  return `sub-agent "${agent}" runs this call: answer what waits in its conversation`;
}

/** Whether the audience, or one that is combined with it, excludes the requesters. */
export function excludesRequester({ exclude, also }: Audience): boolean {
  return exclude?.includes(REQUESTER) === true || also?.some(excludesRequester) === true;
}

/** Ids of all actors that sent a message of the turn that asked for the call, also after that turn has ended. */
export function requestersOf({ turn }: ConversationState, call: CallState): readonly string[] {
  const requesters = turn?.turnId === call.turnId ? turn : (call.requestedBy ?? turn);
  return requesters === undefined ? [] : [requesters.requester.id, ...(requesters.joined ?? [])];
}

/**
 * The same ids from the log: actors of the turn's messages and, where no message began the turn, of the inbox event
 * that did.
 */
export function requestersIn(events: readonly EventBody[]): readonly string[] {
  const ids = events.flatMap((event) => {
    if (event.type === 'user_message') return [event.actor.id];
    return event.type === 'inbox_event' ? [requesterOfInput(event).id] : [];
  });
  return [...new Set(ids)];
}

/** Requester of the turn that an inbox event begins. */
export function requesterOfInput({ requester, actor }: InboxEvent): StampedActor {
  return requester ?? actor;
}

/** Why the actor is not in the audience, or undefined. */
export function outsideReason(
  audience: Audience,
  actor: JudgedActor,
  requesters: readonly string[],
): string | undefined {
  const { users, roles, exclude, requireVerified, also } = audience;
  if (requireVerified === true && !actor.verified)
    return 'the actor is not verified, and must be to decide this call';
  if (exclude?.includes(actor.id) === true) return 'the actor is excluded from deciding this call';
  if (exclude?.includes(REQUESTER) === true && requesters.includes(actor.id))
    return 'requesters of this call may not decide it';
  const isNamed =
    users?.includes(actor.id) === true ||
    actor.roles?.some((role) => roles?.includes(role) === true) === true;
  if ((users !== undefined || roles !== undefined) && !isNamed)
    return 'the actor is not in the audience of this call';
  for (const other of also ?? []) {
    const reason = outsideReason(other, actor, requesters);
    if (reason !== undefined) return reason;
  }
  return undefined;
}

/** Why the actor is in the audience, in words, where `outsideReason` gives none. */
export function admittedBy(audience: Audience, actor: JudgedActor): string {
  const reasons = reasonsIn(audience, actor);
  return reasons.length === 0 ? 'every actor may answer' : [...new Set(reasons)].join(' and ');
}

function reasonsIn({ users, roles, also }: Audience, actor: JudgedActor): readonly string[] {
  const role = actor.roles?.find((name) => roles?.includes(name) === true);
  const own = users?.includes(actor.id) === true ? `user ${actor.id}` : role && `role ${role}`;
  const others = also?.flatMap((other) => reasonsIn(other, actor)) ?? [];
  return own === undefined ? others : [own, ...others];
}
