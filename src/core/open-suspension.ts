/** The event that opens a wait: what is shown, to whom, and until when. Pure. */
import type { EventBody } from '../protocol/events.js';
import type { SuspensionKind } from '../protocol/suspensions.js';
import { TEXTS } from '../protocol/texts.js';
import type { Audience, PlannedCall } from '../protocol/tools.js';
import { askAudience, askFields } from './asks.js';
import { audienceOf } from './audience.js';
import { waitEndOf } from './clocks.js';
import { offeredDefinition } from './definitions/offers.js';
import { CLAIMABLE, graceOf } from './holding.js';
import type { CallState } from './state.js';
import { isoOf } from './state.js';

export function suspensionEvent(
  call: CallState,
  kind: SuspensionKind,
  nowMs: number,
): Extract<EventBody, { type: 'suspension' }> {
  const { plan, turnId, prepared, offerDigest } = call;
  const end = waitEndOf(call, kind, nowMs);
  const argsDigest =
    (kind === 'approval' ? undefined : offerDigest) ?? prepared?.argsDigest ?? plan.argsDigest;
  return {
    type: 'suspension',
    suspension: {
      toolCallId: plan.toolCallId,
      turnId,
      name: plan.name,
      executor: plan.executor,
      kind,
      prompt: prepared === undefined ? (plan.input ?? null) : prepared.payload,
      ...reasonField(plan, kind),
      ...(kind !== 'approval' && plan.answerSchema !== undefined
        ? { answerSchema: plan.answerSchema }
        : {}),
      ...audienceField(askAudience(call, kind) ?? audienceOf(plan, kind)),
      ...(argsDigest === undefined ? {} : { argsDigest }),
      ...(kind === 'approval' && call.revised === true ? { revised: true as const } : {}),
      ...offeredDefinition(call, kind),
      ...askFields(call, kind),
      ...(call.aside === 'detached' ? { detached: true as const } : {}),
      ...(call.reverted === undefined ? {} : { reverted: call.reverted }),
      openedAt: isoOf(nowMs),
      ...end,
      ...graceOf(call, { kind, deadline: end.deadline, nowMs }),
      ...(plan.streaming === true && CLAIMABLE.includes(kind) ? { streaming: true as const } : {}),
    },
  };
}

function reasonField({ approval, name }: PlannedCall, kind: SuspensionKind): { reason?: string } {
  if (kind === 'outcome') return { reason: TEXTS.outcomeHeld(name) };
  if (kind !== 'approval' || !approval.needed || approval.reason === undefined) return {};
  return { reason: approval.reason };
}

function audienceField(audience: Audience | undefined): { audience?: Audience } {
  return audience === undefined ? {} : { audience };
}
