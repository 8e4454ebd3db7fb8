/**
 * The first task of a run that was reset: what the thrown part of the history held is applied before anything is scheduled.
 *
 * The signal is sent to the run before it is reset, so the server applies it again with all other signals of that part, in their order. The
 * recovery has these signals in its entries, each in its place between the ends of activities: so those that come before it are dropped.
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

/** Drops signals that the newest whole recovery of an activation holds in its entries. */
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

/** Where the first part of the newest recovery is that is whole; undefined where none is meant for this run. */
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
  /** Takes the recorded end of an activity, and gives it to whatever waits for it now. */
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

  /** Of a turn whose id somebody was told before the reset. */
  tokenOf(ordinal: number): string | undefined {
    return this.#tokens.get(ordinal);
  }

  /**
   * One part; the last one applies all. Anything else than a recovery of an earlier run is ignored.
   * @throws {Error} where events do not follow on the log: the task fails, and nothing was scheduled.
   */
  take(input: unknown): void {
    const given = recoverInputOf(input);
    if (given === undefined || !isAfterReset(given, workflowInfo().historyLength)) return;
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
    // What follows from the last event, where no input has brought it about.
    machine.record([]);
  }
}

/** As the SDK would give the end of an activity that did not complete. */
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
