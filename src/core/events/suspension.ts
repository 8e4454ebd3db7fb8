/** The event that opens a suspension, with its prompt, audience and deadline. Pure. */

import { labelsOf } from '../../protocol/calls/executors.js';
import type { PlannedCall } from '../../protocol/calls/plan.js';
import type { SuspensionKind } from '../../protocol/calls/suspensions.js';
import { TEXTS } from '../../protocol/failures/texts.js';
import type { EventBody } from '../../protocol/log/events.js';
import type { Audience } from '../../protocol/values/audience.js';
import { askAudience, askFields } from '../calls/ask.js';
import { audienceOf } from '../calls/audience.js';
import { CLAIMABLE, claimTimeoutOf } from '../calls/claim.js';
import { waitEndOf } from '../calls/clocks.js';
import { offeredDefinition } from '../calls/definitions.js';
import type { CallState } from '../state/calls.js';
import { isoOf } from '../state/time.js';

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
      ...labelsOf(plan),
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
      ...(call.background === 'detached' ? { detached: true as const } : {}),
      ...(call.agent === undefined ? {} : { agent: call.agent }),
      ...(call.reverted === undefined ? {} : { reverted: call.reverted }),
      openedAt: isoOf(nowMs),
      ...end,
      ...claimTimeoutOf(call, { kind, deadline: end.deadline, nowMs }),
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
