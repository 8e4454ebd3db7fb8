/** Lets the machine offer a waiting call anew after the definition of its tool has changed. Pure. */
import type { ChangeSuspensionReply } from '../../protocol/calls/definitions.js';
import type { OfferRefusal } from '../judge/offers.js';
import { judgeOffer } from '../judge/offers.js';
import type { ConversationMachine } from './machine.js';

/**
 * Why the call cannot be offered in this form, or undefined. An offer that is already in place is refused, so repeats
 * are safe.
 */
export function refuseOffer(
  { state }: ConversationMachine,
  received: unknown,
): OfferRefusal | undefined {
  const judged = judgeOffer(state, received);
  return 'verdict' in judged ? judged : undefined;
}

/** Changes the offer of the call, or returns the refusal. Synchronous and total. */
export function changeSuspension(
  machine: ConversationMachine,
  received: unknown,
): ChangeSuspensionReply | OfferRefusal {
  const judged = judgeOffer(machine.state, received);
  if ('verdict' in judged) return judged;
  return { changed: true, seq: machine.record([judged]) };
}
