/** Applies inputs from a part of history that a reset discarded. Pure; the workflow shell decides when. */
import type { RecoveredEntry } from '../../protocol/workflow/recovery.js';
import { isSignal, isVerb } from '../verbs/table.js';
import type { ConversationMachine } from './machine.js';

type Input = Extract<RecoveredEntry, { type: 'input' }>;

/**
 * Applies one input with the same checks as on its arrival; an input that the conversation has already accepted changes
 * nothing. Unknown names are ignored. Senders already have their replies, so the new replies of updates are dropped.
 */
export function applyRecoveredInput(
  machine: ConversationMachine,
  { by, name, input }: Input,
): void {
  if (by === 'signal' && isSignal(name)) machine.takeSignal(name, input);
  else if (by === 'update' && isVerb(name)) machine.take(name, input);
}
