/** Checks the input of a run before anything begins. */
import { ApplicationFailure } from '@temporalio/common';
import { MAX_WAIT_MS } from '../../protocol/limits/limits.js';
import { idProblem } from '../../protocol/values/ids.js';
import { isRecord } from '../../protocol/values/json.js';
import type { ConversationInput } from '../../protocol/workflow/messaging.js';
import { CORE_REVISION } from '../../protocol/workflow/revisions.js';

/**
 * Rejects arguments that the engine's clients never send: the run ends at once with the reason.
 * @throws {TypeError} when a newer client has started the run: the task fails and is retried until a newer worker takes
 * it.
 */
export function checkedInput(input: ConversationInput): ConversationInput {
  const received: unknown = input;
  const given: Readonly<Record<string, unknown>> = isRecord(received) ? received : {};
  const problem =
    idProblem('tenant', given['tenant']) ??
    idProblem('conversationId', given['conversationId']) ??
    idProblem('agent', given['agent']) ??
    settingsProblem(given['settings']) ??
    boundsProblem('rollOver', given['rollOver']) ??
    boundsProblem('offload', given['offload']) ??
    carriedProblem(given['carried']) ??
    reopenProblem(given) ??
    forkProblem(given);
  if (problem !== undefined)
    throw ApplicationFailure.nonRetryable(
      `conversation cannot start: ${problem}`,
      'invalid_request',
    );
  const { coreRevision } = input.settings;
  if (coreRevision > CORE_REVISION)
    throw new TypeError(
      `conversation of core revision ${coreRevision} needs a newer worker: this one knows up to ${CORE_REVISION}`,
    );
  return input;
}

/** A missing bound would make a turn endless or a timer impossible, and so fail the task forever. */
function settingsProblem(settings: unknown): string | undefined {
  if (!isRecord(settings)) return 'settings must be given';
  const { maxSteps, onBusy, idleCloseMs, budgets } = settings;
  if (!isPositive(maxSteps)) return 'settings.maxSteps must be a positive number';
  if (!isPositive(idleCloseMs) || idleCloseMs > MAX_WAIT_MS)
    return `settings.idleCloseMs must be a positive number, at most ${MAX_WAIT_MS}`;
  return typeof onBusy === 'string' ? budgetsProblem(budgets) : 'settings.onBusy must be a text';
}

function budgetsProblem(budgets: unknown): string | undefined {
  if (budgets === undefined) return undefined;
  if (!isRecord(budgets)) return 'settings.budgets must be absent or an object';
  const { timeMs, callsOf } = budgets;
  if (timeMs !== undefined && (!isPositive(timeMs) || timeMs > MAX_WAIT_MS))
    return `settings.budgets.timeMs must be absent or a positive number, at most ${MAX_WAIT_MS}`;
  return callsOf === undefined || isRecord(callsOf)
    ? undefined
    : 'settings.budgets.callsOf must be absent or an object';
}

/** A bound of 0 would make the run do nothing but roll over. */
function boundsProblem(name: string, bounds: unknown): string | undefined {
  if (bounds === undefined) return undefined;
  if (!isRecord(bounds)) return `${name} must be absent or an object`;
  const wrong = Object.entries(bounds).find(([, bound]) => !isPositive(bound));
  return wrong === undefined ? undefined : `${name}.${wrong[0]} must be a positive number`;
}

function carriedProblem(carried: unknown): string | undefined {
  return carried === undefined || isRecord(carried)
    ? undefined
    : 'carried must be absent or an object';
}

function reopenProblem({ carried, reopen }: Readonly<Record<string, unknown>>): string | undefined {
  if (reopen === undefined) return undefined;
  if (!isRecord(reopen)) return 'reopen must be absent or an object';
  const { closedRunId } = reopen;
  if (closedRunId !== undefined && typeof closedRunId !== 'string')
    return 'reopen.closedRunId must be absent or a text';
  return carried === undefined ? undefined : 'reopen and carried exclude each other';
}

/** A fork begins with a state of its own. */
function forkProblem({
  carried,
  reopen,
  fork,
}: Readonly<Record<string, unknown>>): string | undefined {
  if (fork === undefined) return undefined;
  if (!isRecord(fork)) return 'fork must be absent or an object';
  const { conversationId, generation, seq, reopenedCalls } = fork;
  const isList = reopenedCalls === undefined || Array.isArray(reopenedCalls);
  if (!isPositive(generation) || !isPositive(seq) || !isList)
    return 'fork must have a generation, a seq, and a list of calls or none';
  return carried === undefined && reopen === undefined
    ? idProblem('fork.conversationId', conversationId)
    : 'fork, reopen and carried exclude each other';
}

function isPositive(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value > 0;
}
