/** A call that waits for a client to claim it, for tests of claims. */

import type { ClaimVerdict } from '../../../src/protocol/calls/claims.js';
import type { PlannedCall } from '../../../src/protocol/calls/plan.js';
import {
  ANSWER_MS,
  APPROVAL_MS,
  actor,
  EPOCH_MS,
  MINUTE_MS,
  modelCalls,
  plannedCall,
  RUN_MS,
} from '../builders/core-builders.js';
import { claimToolCall, leaseLost } from '../builders/verbs.js';
import { aMachineWith, type MachineUnderTest } from './core-driver.js';

export const GRACE_MS = 15_000;
export const LEASE_MS = 5 * MINUTE_MS;
export const iso = (ms: number): string => new Date(EPOCH_MS + ms).toISOString();
export const clocks = {
  approvalMs: APPROVAL_MS,
  answerMs: ANSWER_MS,
  runMs: RUN_MS,
  claimMs: GRACE_MS,
};
export const TAB = actor('ann');

export function offered(overrides: Partial<PlannedCall> = {}): MachineUnderTest {
  const call = plannedCall('c', { executor: 'client', timeouts: clocks, ...overrides });
  return aMachineWith(modelCalls([call]));
}

export function claim(m: MachineUnderTest, fields: Record<string, unknown> = {}): ClaimVerdict {
  const requestId = `claim-${m.events.length}`;
  return claimToolCall(m.machine, { toolCallId: 'c', requestId, actor: TAB, ...fields });
}

export function claimed(m: MachineUnderTest, fields: Record<string, unknown> = {}) {
  const verdict = claim(m, fields);
  if (verdict.verdict !== 'accepted') throw new Error(`not claimed: ${verdict.verdict}`);
  return { claimId: verdict.claimId, seq: verdict.seq ?? 0, leaseUntil: verdict.leaseUntil };
}

export const lost = (m: MachineUnderTest, claimId: string, seq: number) =>
  leaseLost(m.machine, { toolCallId: 'c', claimId, seq });
