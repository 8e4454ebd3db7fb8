/** Leases of claims on the virtual clock: the test's counterpart of the store and its watch. */
import type { ConversationMachine } from '../core/machine/machine.js';
import { isoOf } from '../core/state/time.js';
import { verdictOf } from '../core/verbs/verb.js';
import type { ClaimVerdict } from '../protocol/calls/claims.js';
import type { Claim, PendingCall } from '../protocol/calls/suspensions.js';
import type { StampedActor } from '../protocol/values/actors.js';
import { durationMs } from '../protocol/values/durations.js';
import type { TestClaimOptions } from './local/test-options.js';

export interface LeaseEnd {
  readonly type: 'lease_end';
  readonly toolCallId: string;
  readonly claim: Claim;
  /** ISO 8601 */
  readonly deadline: string;
}

export class TestLeases {
  /** Ends of renewed leases, by claim; the log has the first end. */
  readonly #renewed = new Map<string, number>();

  /** Takes a claim. A renewal leaves nothing in the log. */
  claim(
    machine: ConversationMachine,
    call: { readonly toolCallId: string; readonly pending: PendingCall | undefined },
    by: TestClaimOptions & { readonly requestId: string; readonly actor: StampedActor },
  ): ClaimVerdict {
    const { toolCallId, pending } = call;
    const { lease, claimId, requestId, actor } = by;
    const leaseMs = durationMs(lease);
    const claim = pending?.claim;
    if (claim !== undefined && claim.claimId === claimId && claim.by === actor.id) {
      const untilMs = machine.nowMs + (leaseMs ?? claim.leaseMs);
      this.#renewed.set(claimId, untilMs);
      return { verdict: 'accepted', toolCallId, claimId, leaseUntil: isoOf(untilMs) };
    }
    const input = {
      ...{ toolCallId, requestId, actor },
      ...(claimId === undefined ? {} : { claimId }),
      ...(leaseMs === undefined ? {} : { leaseMs }),
    };
    return verdictOf(machine.take('claimToolCall', input));
  }

  /** The times at which the leases of these calls lapse. */
  ends(pending: readonly PendingCall[]): readonly LeaseEnd[] {
    return pending.flatMap(({ toolCallId, claim }) => {
      if (claim === undefined) return [];
      const untilMs = this.#renewed.get(claim.claimId) ?? Date.parse(claim.leaseUntil);
      return [{ type: 'lease_end', toolCallId, claim, deadline: isoOf(untilMs) }];
    });
  }

  lapse(machine: ConversationMachine, { toolCallId, claim }: LeaseEnd): void {
    machine.take('leaseLost', { toolCallId, claimId: claim.claimId, seq: claim.seq });
  }
}
