/** Steps of random schedules beside messages and answers: rules revoked, deadlines moved, sub-agents started and ended. */

import type { EffectOf } from '../../../src/core/decide/effects.js';
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

type ChildEffect = EffectOf<'start_child' | 'stop_child'>;

/** The end of the start or of the stop of a sub-agent: done, refused, not running any more, or lost. */
export function endChildWork(m: MachineUnderTest, effect: ChildEffect, variant: number): void {
  const { machine } = m;
  const error = { code: 'not_available', message: 'gone' } as const;
  if (variant % 5 === 1) machine.lost(effect, { timedOut: false, message: 'lost' });
  else if (effect.type === 'stop_child')
    machine.completed<'stop_child'>(effect, { running: variant % 2 === 0 });
  else if (variant % 5 === 2) machine.completed<'start_child'>(effect, { started: false, error });
  else machine.completed<'start_child'>(effect, { started: true });
}

/** The report of one of the sub-agents, of one that is not known, or no report at all. */
export function reportSomeChild(m: MachineUnderTest, pick: number, variant: number): void {
  const ended = m.events.flatMap((event) => (event.type === 'child_changed' ? [event] : []));
  const child = (variant % 4 === 0 ? ended : (m.state.children ?? [])).at(pick % 7);
  reportChild(m, child?.childId ?? 'nobody', variant);
}

export function reportChild(m: MachineUnderTest, childId: string, variant: number): void {
  const status = (['completed', 'failed', 'cancelled'] as const)[variant % 3];
  const usage = { inputTokens: variant % 50, outputTokens: 1, costMicros: variant % 9 };
  const end = {
    status,
    text: `text ${variant}`,
    usage,
    ...(variant % 2 === 0 ? { calls: 2 } : {}),
  };
  m.machine.takeSignal('childEnded', variant % 13 === 0 ? { childId } : { childId, end });
}

/** Backwards, too: a workflow's clock never does, a virtual one of a test may. Now and then to the next warning. */
export function moveClock(m: MachineUnderTest, pick: number, variant: number): void {
  const warning = m.effects().find((effect) => effect.type === 'await_warning');
  const toWarning = warning === undefined ? 0 : Date.parse(warning.deadline) - m.clock.now();
  const byMs = (variant % 5) * 900_000 - 600_000;
  m.clock.advance(variant % 7 === 0 && toWarning > 0 ? toWarning : byMs);
  if (pick % 2 === 0) m.advance(0);
}
