/** Claims in random schedules, chosen by two numbers. */

import type { TimerEffect } from '../../../src/core/decide/effects.js';
import type { Suspension } from '../../../src/protocol/calls/suspensions.js';
import { actor } from '../builders/core-builders.js';
import { claimToolCall, leaseLost } from '../builders/verbs.js';
import type { MachineUnderTest } from './core-driver.js';

/** The fields that the holder of a call sends. */
export function asHolder(entry: Pick<Suspension, 'claim'> | undefined): Record<string, unknown> {
  const { claim } = entry ?? {};
  return claim === undefined ? {} : { claimId: claim.claimId, actor: actor(claim.by) };
}

/** A claim or a renewal; now and then of a call that cannot be claimed, or too late. */
export function claimSomething(m: MachineUnderTest, pick: number, variant: number): void {
  const waiting = m.pending[pick % Math.max(1, m.pending.length)];
  claimToolCall(m.machine, {
    toolCallId: waiting?.toolCallId ?? 'nobody',
    actor: actor(`user-${variant % 3}`),
    ...(variant % 2 === 0 ? asHolder(waiting) : {}),
    ...(variant % 5 === 0 ? {} : { requestId: `r${variant % 200}` }),
    ...(variant % 7 === 0 ? { leaseMs: (variant % 4) * 60_000 } : {}),
    ...(variant % 4 === 0 ? { receivedAt: m.clock.iso(-900_000) } : {}),
  });
}

/** A report of the lease watch; now and then the report is behind. */
export function loseSomeLease(m: MachineUnderTest, pick: number, variant: number): void {
  const held = m.pending.filter(({ claim }) => claim !== undefined);
  const { toolCallId = 'nobody', claim } = held[pick % Math.max(1, held.length)] ?? {};
  const seq = (claim?.seq ?? 0) - (variant % 4 === 0 ? 1 : 0);
  leaseLost(m.machine, { toolCallId, claimId: claim?.claimId ?? 'none', seq });
}

/** The timer of a claim timeout. */
export function claimTimer(toolCallId: string, deadline: string): TimerEffect {
  return { type: 'await_claim', toolCallId, kind: 'client_execution', name: 'tool', deadline };
}

/** The timer that announces a deadline, `ends`. */
export function warning(toolCallId: string, ends: string): TimerEffect {
  const of = { toolCallId, kind: 'elicitation', name: 'tool' } as const;
  return { type: 'await_warning', ...of, deadline: ends, ends };
}
