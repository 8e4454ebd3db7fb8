/** Requests to a conversation machine, one function for each verb, with the verdict or the reply as its result. */
import { ConversationMachine } from '../../../src/core/machine/machine.js';
import type { ConversationState } from '../../../src/core/state/state.js';
import {
  type OutcomeOf,
  type RefusalOf,
  type ReplyOf,
  type SignalName,
  type VerbName,
} from '../../../src/core/verbs/table.js';
import { verdictOf } from '../../../src/core/verbs/verb.js';

type Take<Result> = (machine: ConversationMachine, input: unknown) => Result;

function verdicts<Name extends VerbName>(name: Name): Take<ReplyOf<Name> | RefusalOf<Name>> {
  return (machine, input) => verdictOf(machine.take(name, input));
}

function outcomes<Name extends VerbName>(name: Name): Take<OutcomeOf<Name>> {
  return (machine, input) => machine.take(name, input);
}

/** The reply of a request that is not refused. */
function replies<Name extends VerbName>(name: Name): Take<ReplyOf<Name>> {
  return (machine, input) => {
    const outcome = machine.take(name, input);
    if (!outcome.accepted) throw new Error(`${name} was refused`);
    return outcome.reply;
  };
}

function signals<Name extends SignalName>(name: Name): Take<ReplyOf<Name> | RefusalOf<Name>> {
  return (machine, input) => verdictOf(machine.takeSignal(name, input));
}

function refusals<Name extends VerbName>(name: Name): Take<RefusalOf<Name> | undefined> {
  return (machine, input) => machine.refusalOf(name, input);
}

export const sendMessage = outcomes('sendMessage');
export const sendMessageBySignal = signals('sendMessage');
export const resolve = verdicts('resolveToolCall');
export const resolveBySignal = signals('resolveToolCall');
export const cancelTurn = replies('cancelTurn');
export const cancelBySignal = signals('cancelTurn');
export const refuseCancel = refusals('cancelTurn');
export const extendToolCall = verdicts('extendToolCall');
export const refuseExtension = refusals('extendToolCall');
export const claimToolCall = verdicts('claimToolCall');
export const refuseClaim = refusals('claimToolCall');
export const leaseLost = verdicts('leaseLost');
export const refuseLeaseLoss = refusals('leaseLost');
export const resolveBatch = verdicts('resolveBatch');
export const refuseBatch = refusals('resolveBatch');
export const changeSuspension = verdicts('changeSuspension');
export const takeInboxEvent = outcomes('inboxEvent');
export const takeInboxSignal = signals('inboxEvent');
export const judgeInbox = refusals('inboxEvent');
export const revokeRule = outcomes('revokeRule');

export function closeConversation(
  machine: ConversationMachine,
  input?: unknown,
): ReplyOf<'closeConversation'> {
  return replies('closeConversation')(machine, input);
}

/** The refusal of a request to a conversation in this state, or `acceptable`. */
export function judgeIn<Name extends VerbName>(
  { state, nowMs = 0 }: { readonly state: ConversationState; readonly nowMs?: number },
  name: Name,
  input: unknown,
): RefusalOf<Name> | 'acceptable' {
  const machine = new ConversationMachine({ state, now: () => nowMs, onEvent: () => undefined });
  return machine.refusalOf(name, input) ?? 'acceptable';
}
