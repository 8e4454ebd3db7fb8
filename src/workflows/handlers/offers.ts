/** The handler for the watch of definitions. The rules of `handlers.ts` apply. */
import { defineUpdate, setHandler } from '@temporalio/workflow';
import { changeSuspension, refuseOffer } from '../../core/machine/offers.js';
import { UPDATES } from '../../protocol/workflow/messaging.js';
import { type HandlerOptions, refuse } from './handler.js';

export function registerOffers({ machine, wake, countUpdate }: HandlerOptions): void {
  setHandler(
    defineUpdate<unknown, [unknown]>(UPDATES.changeSuspension),
    (input) => {
      countUpdate();
      const outcome = changeSuspension(machine, input);
      if ('verdict' in outcome) refuse('verdict', outcome.verdict, outcome);
      wake();
      return outcome;
    },
    {
      description: 'From the watch of definitions: {toolCallId, offer}',
      validator: (input) => {
        const refusal = refuseOffer(machine, input);
        if (refusal !== undefined) refuse('verdict', refusal.verdict, refusal);
      },
    },
  );
}
