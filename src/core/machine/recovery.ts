/** Applies inputs from a part of history that a reset discarded. Pure; the workflow shell decides when. */
import type { RecoveredEntry } from '../../protocol/workflow/recovery.js';
import { SIGNAL_VERBS, VERBS, type VerbName } from '../verbs/table.js';
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
  const signal = SIGNAL_VERBS.find((known) => known === name);
  if (by === 'signal') {
    if (signal !== undefined) machine.takeSignal(signal, input);
  } else if (Object.hasOwn(VERBS, name)) machine.take(name as VerbName, input);
}
