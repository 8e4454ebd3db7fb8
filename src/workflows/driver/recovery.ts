/**
 * Recovers a run in its first task after a reset: applies the content of the discarded history before anything is
 * scheduled.
 *
 * The signal is sent to the run before the reset, so the server reapplies it together with all other signals of the
 * discarded part, in their order. The entries of the recovery contain these signals, each at its place between the ends
 * of activities; so signals that come before the recovery are dropped.
 */
import { defaultPayloadConverter } from '@temporalio/common';
import {
  type ActivateInput,
  ApplicationFailure,
  CancelledFailure,
  type Next,
  TimeoutFailure,
  type WorkflowInternalsInterceptor,
  workflowInfo,
} from '@temporalio/workflow';
import type { ConversationMachine } from '../../core/machine/machine.js';
import { applyRecoveredInput } from '../../core/machine/recovery.js';
import { SIGNALS } from '../../protocol/workflow/messaging.js';
import {
  isAfterReset,
  type RecoveredEnd,
  type RecoverInput,
  recoverInputOf,
} from '../../protocol/workflow/recovery.js';

type Job = NonNullable<ActivateInput['activation']['jobs']>[number];

/** Drops signals that the entries of the newest complete recovery of an activation contain. */
export class RecoverFirst implements WorkflowInternalsInterceptor {
  activate(input: ActivateInput, next: Next<WorkflowInternalsInterceptor, 'activate'>): void {
    const { activation } = input;
    const jobs = activation.jobs ?? [];
    const from = firstPartOf(jobs, activation.historyLength ?? 0);
    if (from !== undefined)
      activation.jobs = jobs.filter((job, index) => index >= from || job.signalWorkflow == null);
    next(input);
  }
}

/** Index of the first part of the newest complete recovery; undefined when none is meant for this run. */
function firstPartOf(jobs: readonly Job[], startedId: number): number | undefined {
  const found = jobs.flatMap((job, index) => {
    const given = partIn(job);
    return given === undefined || !isAfterReset(given, startedId) ? [] : [{ ...given, index }];
  });
  const whole = found.findLast(
    ({ recoveryId, parts }) =>
      found.filter((other) => other.recoveryId === recoveryId).length === parts,
  );
  return found.find(({ recoveryId }) => recoveryId === whole?.recoveryId)?.index;
}

function partIn({ signalWorkflow }: Job): RecoverInput | undefined {
  if (signalWorkflow?.signalName !== SIGNALS.recover) return undefined;
  const [payload] = signalWorkflow.input ?? [];
  if (payload == null) return undefined;
  try {
    return recoverInputOf(defaultPayloadConverter.fromPayload(payload));
  } catch {
    return undefined;
  }
}

interface Ends {
  /** Takes the recorded end of an activity and feeds it to the work that waits for it now. */
  ended(activityId: string, end: RecoveredEnd): void;
}

export class Recovery {
  readonly #machine: ConversationMachine;
  readonly #ends: Ends;
  readonly #tokens = new Map<number, string>();
  readonly #received = new Map<string, RecoverInput[]>();

  constructor(machine: ConversationMachine, ends: Ends) {
    this.#machine = machine;
    this.#ends = ends;
  }

  /** The token of a turn whose id was already returned to a client before the reset. */
  tokenOf(ordinal: number): string | undefined {
    return this.#tokens.get(ordinal);
  }

  /**
   * Takes one part, which arrived in the task with this start; the last part applies all. Ignores input that is not a
   * recovery of an earlier run.
   * @throws {Error} when events do not continue the log: the task fails, and nothing has been scheduled.
   */
  take(input: unknown, startedId = workflowInfo().historyLength): void {
    const given = recoverInputOf(input);
    if (given === undefined || !isAfterReset(given, startedId)) return;
    const parts = [...(this.#received.get(given.recoveryId) ?? []), given];
    this.#received.set(given.recoveryId, parts);
    if (parts.length < given.parts) return;
    this.#received.delete(given.recoveryId);
    this.#apply(
      parts.sort((one, other) => one.part - other.part).flatMap(({ entries }) => entries),
    );
  }

  #apply(entries: RecoverInput['entries']): void {
    const machine = this.#machine;
    for (const entry of entries) {
      switch (entry.type) {
        case 'event':
          machine.adopt(entry.event);
          break;
        case 'turn_token':
          this.#tokens.set(entry.ordinal, entry.token);
          break;
        case 'input':
          applyRecoveredInput(machine, entry);
          break;
        case 'ended':
          this.#ends.ended(entry.activityId, entry.end);
      }
    }
    // Derives the consequences of the last event, in case no input has done so.
    machine.record([]);
  }
}

/** The error that the SDK would throw for an activity that did not complete. */
export function recoveredFailure(end: Exclude<RecoveredEnd, { as: 'completed' }>): Error {
  switch (end.as) {
    case 'cancelled':
      return new CancelledFailure('The activity was cancelled');
    case 'timed_out':
      return new TimeoutFailure(
        'The activity timed out',
        end.details?.[0],
        end.timeout as TimeoutFailure['timeoutType'],
      );
    case 'failed':
      return ApplicationFailure.create({
        message: end.message,
        ...(end.type === undefined ? {} : { type: end.type }),
        details: [...(end.details ?? [])],
        nonRetryable: true,
      });
  }
}
