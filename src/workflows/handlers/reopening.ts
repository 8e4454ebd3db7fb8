/**
 * Reopens a closed conversation, or begins a fork: an activity makes the state while inputs wait, and the handlers of
 * the run judge them afterwards, in the order of their arrival. Without the state the run ends, and leaves nothing in
 * the log.
 *
 * Q1  An update that waits has no reply, so it is refused as soon as a try has failed: its sender may repeat it.
 * Q2  A message that waits as a signal was reported as durable to its sender, so the run tries again, unless the
 *     conversation can never be reopened.
 * Q3  A fork was promised to its caller when the run began: it tries again in any case, and its inputs wait.
 */
import { ApplicationFailure } from '@temporalio/common';
import {
  allHandlersFinished,
  CancellationScope,
  condition,
  defineQuery,
  isCancellation,
  log,
  setDefaultSignalHandler,
  setDefaultUpdateHandler,
  setHandler,
  sleep,
  workflowInfo,
} from '@temporalio/workflow';
import { isSince } from '../../core/state/state.js';
import { restoredProblem } from '../../core/work/forms.js';
import type { TurnError } from '../../protocol/conversation/turns.js';
import { FAILURES, isFailureCode } from '../../protocol/failures/failures.js';
import { chainOf } from '../../protocol/values/ids.js';
import { RESTORE_STATE } from '../../protocol/workflow/activities.js';
import {
  type CarriedState,
  type ConversationInput,
  type EventsPage,
  type NotReopened,
  QUERIES,
  SIGNALS,
} from '../../protocol/workflow/messaging.js';
import { turnErrorOf } from '../activities/activity-losses.js';
import { provideDetails } from '../activities/details.js';
import { activities, RESTORE_STATE_OPTIONS } from '../activities/schedule.js';
import { SearchAttributes } from '../log/live-output.js';
import type { InputHandlers } from './input-handlers.js';

/** Pauses between tries, in milliseconds. */
const FIRST_PAUSE_MS = 5_000;
const LAST_PAUSE_MS = 5 * 60_000;

/** Signals that clients leave when no worker has confirmed the update. */
const DURABLE: readonly string[] = [SIGNALS.sendMessage, SIGNALS.inboxEvent];

/** The log of a run that has no state yet. */
const NO_EVENTS: EventsPage = { events: [], lastSeq: 0, firstSeq: 1, more: false };

/** An input that arrived before the run had its state. */
export interface WaitingInput {
  readonly isDurable: boolean;
  /** Passes the input to its handler, and the outcome to its sender. */
  readonly take: (handlers: InputHandlers) => void;
  readonly refuse: (failure: ApplicationFailure) => void;
}

export class Reopening {
  readonly #input: ConversationInput;
  #waiting: readonly WaitingInput[] = [];

  /** Must be called synchronously in the first activation. */
  constructor(input: ConversationInput) {
    this.#input = input;
    setDefaultUpdateHandler((name, given) => this.#holdUpdate(name, given));
    setDefaultSignalHandler((name, given) => {
      this.#hold({
        isDurable: DURABLE.includes(name),
        take: (handlers) => {
          handlers.takeSignal(name, given);
        },
        refuse: () => undefined,
      });
    });
    setHandler(defineQuery<EventsPage>(QUERIES.events), () => NO_EVENTS);
    const isFork = input.fork !== undefined;
    provideDetails(() => `The conversation is being ${isFork ? 'forked' : 'reopened'}.`);
  }

  /** The inputs that wait, in the order of their arrival. */
  get waiting(): readonly WaitingInput[] {
    return this.#waiting;
  }

  #hold(input: WaitingInput): void {
    this.#waiting = [...this.#waiting, input];
  }

  /** No validator runs: it would need the state. */
  #holdUpdate(name: string, given: unknown): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#hold({
        isDurable: false,
        take: (handlers) => {
          // Takes it now, and rejects where the handler throws.
          resolve(
            new Promise((taken) => {
              taken(handlers.takeUpdate(name, given));
            }),
          );
        },
        refuse: reject,
      });
    });
  }

  /**
   * The state to continue with.
   * @throws {ApplicationFailure} with a code of the failure table, when the conversation stays closed
   */
  async restore(): Promise<CarriedState> {
    const { tenant, conversationId, reopen, fork: origin, settings } = this.#input;
    const { firstExecutionRunId, runId } = workflowInfo();
    const fork = origin === undefined ? {} : { fork: { origin, settings, runId } };
    const chain = chainOf(firstExecutionRunId);
    try {
      for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, LAST_PAUSE_MS)) {
        try {
          return usableState(
            await activities.restoreState.executeWithOptions(RESTORE_STATE_OPTIONS, [
              { tenant, conversationId, chain, ...reopen, ...fork },
            ]),
          );
        } catch (error) {
          if (isCancellation(error)) throw error;
          await this.#keepDurable(turnErrorOf(error));
        }
        await sleep(pause, { summary: 'until the store is tried again' });
      }
    } catch (error) {
      if (isCancellation(error)) await this.#refuse(cancelled());
      const { agent, searchAttributes } = this.#input;
      new SearchAttributes(searchAttributes !== false, new Set(), agent).closed();
      throw error;
    }
  }

  /** @throws {ApplicationFailure} the failure of the run, when another try has no sense */
  async #keepDurable(error: TurnError): Promise<void> {
    const failure = failureFor(error);
    const passes = isPassing(error.code);
    const { fork } = this.#input;
    if (passes && fork !== undefined && isSince(this.#input, 3)) return;
    await this.#refuse(failure);
    this.#waiting = this.#waiting.filter(({ isDurable }) => isDurable);
    if (!passes || (fork === undefined && this.#waiting.length === 0)) throw failure;
  }

  /** Refuses the updates that wait, and waits until their senders have the refusal. */
  async #refuse(failure: ApplicationFailure): Promise<void> {
    for (const { refuse } of this.#waiting) refuse(failure);
    await CancellationScope.nonCancellable(() => condition(allHandlersFinished));
  }
}

/**
 * The state, if it has its form; a failed try otherwise.
 * @throws {ApplicationFailure} `internal`
 */
export function usableState(carried: CarriedState): CarriedState {
  const problem = restoredProblem(carried);
  if (problem === undefined) return carried;
  log.warn('result of an activity ignored', { activity: RESTORE_STATE, problem });
  throw ApplicationFailure.nonRetryable(problem, 'internal');
}

/** The sender may send the message again: then another run reopens the conversation. */
function cancelled(): ApplicationFailure {
  const message = 'The run was cancelled before the conversation was reopened';
  return ApplicationFailure.nonRetryable(message, 'conversation_closed', { message });
}

/** A failure of an update, and of the run, with a code of the failure table. */
function failureFor({ code, message }: TurnError): ApplicationFailure {
  const detail: NotReopened = { message, reopened: isPassing(code) ? 'later' : 'never' };
  return ApplicationFailure.nonRetryable(message, code, detail);
}

function isPassing(code: string): boolean {
  return !isFailureCode(code) || FAILURES[code].retryable;
}
