/** Applies inputs from a part of history that a reset discarded. Pure; the workflow shell decides when. */
import type { RecoveredEntry } from '../../protocol/workflow/recovery.js';
import { resolveBatch } from './batches.js';
import { claimToolCall, leaseLost } from './claims.js';
import { extendToolCall } from './extensions.js';
import { takeInboxEvent, takeInboxSignal } from './inbox.js';
import type { ConversationMachine } from './machine.js';
import { revokeRule } from './rules.js';

type Take = (machine: ConversationMachine, input: unknown) => unknown;
type Input = Extract<RecoveredEntry, { type: 'input' }>;

/** Senders already have their replies, so the new replies of these updates are dropped. */
const UPDATES: Readonly<Record<string, Take>> = {
  sendMessage: (machine, input) => machine.sendMessage(input),
  resolveToolCall: (machine, input) => machine.resolve(input),
  cancelTurn: (machine, input) => machine.cancelTurn(input),
  closeConversation: (machine, input) => machine.close('requested', input),
  resolveBatch,
  extendToolCall,
  claimToolCall,
  leaseLost,
  inboxEvent: takeInboxEvent,
  revokeRule,
};

const SIGNALS: Readonly<Record<string, Take>> = {
  sendMessage: (machine, input) => {
    machine.sendMessageBySignal(input);
  },
  resolveToolCall: (machine, input) => machine.resolveBySignal(input),
  cancelTurn: (machine, input) => machine.cancelTurn(input),
  inboxEvent: takeInboxSignal,
};

/**
 * Applies one input with the same checks as on its arrival; an input that the conversation has already accepted changes
 * nothing. Unknown names are ignored.
 */
export function applyRecoveredInput(
  machine: ConversationMachine,
  { by, name, input }: Input,
): void {
  const known = by === 'update' ? UPDATES : SIGNALS;
  if (Object.hasOwn(known, name)) known[name]?.(machine, input);
}
