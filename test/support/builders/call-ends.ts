/** Ends of work on calls, one function for each kind, for a conversation machine under test. */
import type { Loss } from '../../../src/core/calls/results.js';
import type { EffectOf } from '../../../src/core/decide/effects.js';
import type { ConversationMachine } from '../../../src/core/machine/machine.js';
import type { CallWorkType, WorkResult } from '../../../src/core/work/row.js';

/** The work that the machine wants now for this call; otherwise work that it does not want. */
function effectOf(
  machine: ConversationMachine,
  type: CallWorkType,
  toolCallId: string,
): EffectOf<CallWorkType> {
  const wanted = machine
    .effects()
    .find(
      (effect) =>
        effect.type === type && 'toolCallId' in effect && effect.toolCallId === toolCallId,
    );
  return (wanted ?? { type, toolCallId, run: 1, requestId: '' }) as EffectOf<CallWorkType>;
}

function results<Type extends CallWorkType>(type: Type) {
  return (machine: ConversationMachine, callId: string, result: WorkResult<Type>): void => {
    machine.completed(effectOf(machine, type, callId), result);
  };
}

function losses(type: CallWorkType) {
  return (machine: ConversationMachine, callId: string, loss: Loss): void => {
    machine.lost(effectOf(machine, type, callId), loss);
  };
}

interface Checked {
  readonly toolCallId: string;
  readonly requestId: string;
}

export function answerChecked(
  machine: ConversationMachine,
  of: Checked,
  result: WorkResult<'check_answer'>,
): void {
  machine.completed({ type: 'check_answer', ...of }, result);
}

export function editChecked(
  machine: ConversationMachine,
  of: Checked,
  result: WorkResult<'check_edit'>,
): void {
  machine.completed({ type: 'check_edit', ...of }, result);
}

export const toolFinished = results('run_tool');
export const toolLost = losses('run_tool');
export const toolPrepared = results('preflight_tool');
export const toolReconciled = results('reconcile_tool');
export const callPlanned = results('plan_call');
export const callNotPlanned = losses('plan_call');
export const definitionChecked = results('check_definition');
export const definitionNotChecked = losses('check_definition');
