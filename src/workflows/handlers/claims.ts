/** Handlers of claims. The rules of `handlers.ts` apply; only updates, because the caller needs the verdict. */
import { defineUpdate, setHandler } from '@temporalio/workflow';
import {
  claimToolCall,
  leaseLost,
  refuseClaim,
  refuseLeaseLoss,
} from '../../core/machine/claims.js';
import { UPDATES } from '../../protocol/workflow/messaging.js';
import { type HandlerOptions, refuse } from './handler.js';

export function registerClaims({ machine, wake, countUpdate }: HandlerOptions): void {
  setHandler(
    defineUpdate<unknown, [unknown]>(UPDATES.claimToolCall),
    (input) => {
      countUpdate();
      const verdict = claimToolCall(machine, input);
      if (verdict.verdict !== 'accepted') refuse('verdict', verdict.verdict, verdict);
      wake();
      return verdict;
    },
    {
      description: 'Say that you run a waiting call: {toolCallId, actor, leaseMs, requestId}',
      validator: (input) => {
        const refusal = refuseClaim(machine, input);
        if (refusal !== undefined) refuse('verdict', refusal.verdict, refusal);
      },
    },
  );
  setHandler(
    defineUpdate<unknown, [unknown]>(UPDATES.leaseLost),
    (input) => {
      countUpdate();
      const outcome = leaseLost(machine, input);
      if ('verdict' in outcome) refuse('verdict', outcome.verdict, outcome);
      wake();
      return outcome;
    },
    {
      description: 'From the watch of leases: {toolCallId, claimId, seq}',
      validator: (input) => {
        const refusal = refuseLeaseLoss(machine, input);
        if (refusal !== undefined) refuse('verdict', refusal.verdict, refusal);
      },
    },
  );
}
