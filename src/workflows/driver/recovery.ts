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
} from '@temporalio/workflow';
import { applyRecoveredInput, type ConversationMachine } from '../../core/machine/machine.js';
import { SIGNALS } from '../../protocol/workflow/messaging.js';
import {
  entriesOf,
  newestWhole,
  type RecoveredEnd,
  type RecoverInput,
  recoverInputOf,
} from '../../protocol/workflow/recovery.js';

type Job = NonNullable<ActivateInput['activation']['jobs']>[number];

/**
 * Lets the newest complete recovery of an activation through, and drops the signals that its entries contain. Any
 * client may send `recover`, and its entries are applied as facts, such as the approval of a call. So it counts only
 * after a reset, which needs the right to reset a workflow; every other `recover` loses its payload. A forged one before
 * a reset by hand counts, because a workflow cannot distinguish the two resets
 * (`docs/failing-workflows.md`).
 */
export class RecoverFirst implements WorkflowInternalsInterceptor {
  #seed = randomSeed();

  activate(input: ActivateInput, next: Next<WorkflowInternalsInterceptor, 'activate'>): void {
    const { activation } = input;
    const jobs = activation.jobs ?? [];
    const seed = randomSeed();
    const parts = seed === this.#seed ? [] : partsIn(jobs);
    this.#seed = seed;
    const [first] = parts;
    for (const job of jobs)
      if (isRecover(job) && !parts.includes(job) && job.signalWorkflow != null)
        job.signalWorkflow.input = [];
    if (first !== undefined) {
      const from = jobs.indexOf(first);
      activation.jobs = jobs.filter((job, index) => index >= from || job.signalWorkflow == null);
    }
    next(input);
  }
}

/**
 * Seed of the workflow's random numbers. The server gives a run another one at a reset, before the first activation
 * behind it, and at no other time. The SDK passes that job to no interceptor, so this reads its activator, which makes
 * a new list for each seed; `test/workflows/failures/repair.test.ts` fails if that changes.
 */
function randomSeed(): unknown {
  const { __TEMPORAL_ACTIVATOR__: activator } = globalThis as {
    readonly __TEMPORAL_ACTIVATOR__?: { readonly randomnessSeed?: unknown };
  };
  return activator?.randomnessSeed;
}

function partsIn(jobs: readonly Job[]): readonly Job[] {
  const found = jobs.flatMap((job) => {
    const given = partIn(job);
    return given === undefined ? [] : [{ ...given, job }];
  });
  return newestWhole(found).map(({ job }) => job);
}

function isRecover({ signalWorkflow }: Job): boolean {
  return signalWorkflow?.signalName === SIGNALS.recover;
}

function partIn(job: Job): RecoverInput | undefined {
  if (!isRecover(job)) return undefined;
  const [payload] = job.signalWorkflow?.input ?? [];
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
   * Takes one part that `RecoverFirst` has let through; the last part applies all.
   * @throws {Error} when events do not continue the log: the task fails, nothing has been scheduled, and the next
   * repair sends a newer recovery.
   */
  take(input: unknown): void {
    const given = recoverInputOf(input);
    if (given === undefined) return;
    const parts = [...(this.#received.get(given.recoveryId) ?? []), given];
    this.#received.set(given.recoveryId, parts);
    if (parts.length < given.parts) return;
    this.#received.delete(given.recoveryId);
    this.#apply(entriesOf(parts));
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
