/** Steps of random schedules beside messages and answers: rules remembered and revoked, deadlines moved. */

import type { Resolution } from '../../../src/protocol/calls/resolutions.js';
import type { Remember } from '../../../src/protocol/calls/rules.js';
import type { PendingCall, SuspensionKind } from '../../../src/protocol/calls/suspensions.js';
import { actor } from '../builders/core-builders.js';
import { extendToolCall, revokeRule } from '../builders/verbs.js';
import type { MachineUnderTest } from './core-driver.js';

/** The inputs that may end each kind of wait. */
export const FITTING: Readonly<Record<SuspensionKind, readonly Resolution[]>> = {
  approval: [{ type: 'approve' }, { type: 'approve', input: { edited: 0 } }, { type: 'deny' }],
  elicitation: [{ type: 'answer', value: 7 }, { type: 'decline' }],
  client_execution: [
    { type: 'result', value: 7 },
    { type: 'error', message: 'no' },
  ],
  external_execution: [
    { type: 'result', value: 7 },
    { type: 'error', message: 'no' },
  ],
  outcome: [
    { type: 'outcome', value: 7 },
    { type: 'outcome', error: 'no' },
  ],
};

/** A decision on this call that is to be remembered; some decisions cannot be, and are refused. */
export function rememberedDecision(
  waiting: Pick<PendingCall, 'toolCallId'>,
  variant: number,
): Resolution {
  const scope = variant % 2 === 0 ? 'turn' : 'conversation';
  const match = { '/of': variant % 3 === 0 ? 'somebody else' : waiting.toolCallId };
  const remember: Remember = { for: scope, ...(variant % 5 < 3 ? {} : { match }) };
  return { type: variant % 7 < 4 ? 'approve' : 'deny', remember };
}

/** Revokes one of the rules, or one that never existed. */
export function revokeSomeRule(m: MachineUnderTest, pick: number): void {
  const rules = m.state.rules ?? [];
  const rule = rules[pick % Math.max(1, rules.length)];
  revokeRule(m.machine, { ruleId: rule?.ruleId ?? 'rule_of_nobody' });
}

/**
 * Moves the deadline of one of the waits: forward, too far, backwards, by another actor, or again under the same id.
 */
export function extendSomeWait(m: MachineUnderTest, pick: number, variant: number): void {
  const waiting = m.pending[pick % Math.max(1, m.pending.length)];
  const by = [60_000, 3_600_000, 0, Number.MAX_SAFE_INTEGER][variant % 4];
  extendToolCall(m.machine, {
    toolCallId: waiting?.toolCallId ?? 'nobody',
    ...(variant % 5 === 0 ? { until: m.clock.iso(variant % 7_200_000) } : { by }),
    ...(variant % 3 === 0 ? {} : { requestId: `x${variant % 50}` }),
    actor: actor(`user-${variant % 3}`),
  });
}
