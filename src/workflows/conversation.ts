/**
 * The `conversation` workflow: one per conversation, the same for every agent, with no user code. A thin shell:
 * registers the handlers, lets the machine decide, lets the driver carry out, rolls over at quiet points and ends when
 * the conversation closes.
 */
import { ApplicationFailure } from '@temporalio/common';
import {
  allHandlersFinished,
  CancellationScope,
  condition,
  isCancellation,
  log,
  makeContinueAsNewFunc,
  uuid4,
  workflowInfo,
} from '@temporalio/workflow';
import { childrenToClose, endOf } from '../core/children/children.js';
import { withOffloaded } from '../core/context/offloaded.js';
import { isCrowded, needsOffload } from '../core/context/request-window.js';
import { ConversationMachine } from '../core/machine/machine.js';
import type { ConversationState } from '../core/state/state.js';
import type { ChildEnd, ParentRef } from '../protocol/conversation/children.js';
import { EMPTY_RUN_CLOSE_MS } from '../protocol/limits/limits.js';
import type { RollOverReason, TranscriptOffloaded } from '../protocol/log/events.js';
import type { ConversationInput } from '../protocol/workflow/messaging.js';
import { provideDetails } from './activities/details.js';
import {
  AT_THE_END,
  activities,
  FLUSH_BEFORE_ROLL_OVER,
  FLUSH_LOG,
} from './activities/schedule.js';
import { Driver } from './driver/driver.js';
import { IdleClose } from './driver/idle-close.js';
import { Recovery } from './driver/recovery.js';
import { checkedInput } from './handlers/checked-input.js';
import { registerHandlers } from './handlers/handlers.js';
import type { InputHandlers } from './handlers/input-handlers.js';
import { detailsText } from './handlers/page.js';
import { onRefusedUpdate } from './handlers/refused-updates.js';
import { Reopening, type WaitingInput } from './handlers/reopening.js';
import { EventLogOfRun } from './log/event-log.js';
import { SearchAttributes, shownIds } from './log/live-output.js';
import { TaskMarker } from './log/task-marker.js';
import { initialState, nextInput } from './transcript/carry-over.js';
import { TranscriptOffload } from './transcript/offload.js';
import { OffloadPauses } from './transcript/offload-pauses.js';
import { canCarry, losesMessages, RollOver } from './transcript/roll-over.js';

/**
 * Longer than a cancel needs to reach an activity (`HEARTBEAT_THROTTLE_MS`). The workflow waits no longer than this for
 * a lost worker.
 */
const CANCELLED_MODEL_MS = 5_000;

/** The report of a sub-agent whose first message was refused. */
const NOT_ADMITTED: ChildEnd = {
  status: 'failed',
  text: '',
  error: { code: 'not_admitted', message: 'its first message was refused' },
  usage: { inputTokens: 0, outputTokens: 0 },
};

export interface ConversationOutcome {
  readonly status: 'closed';
  readonly lastSeq: number;
}

export async function conversation(input: ConversationInput): Promise<ConversationOutcome> {
  const { reopen, fork } = checkedInput(input);
  const begins = reopen === undefined && fork === undefined;
  const shell = begins ? new Shell(input) : await restored(input);
  try {
    return await shell.run();
  } catch (error) {
    if (!isCancellation(error)) throw error;
    await CancellationScope.nonCancellable(() => shell.cancelled());
    throw error;
  }
}

async function restored(input: ConversationInput): Promise<Shell> {
  const reopening = new Reopening(input);
  const carried = await reopening.restore();
  return new Shell({ ...input, carried }, reopening.waiting);
}

/** The attributes as the start of the run, or the run before it, has left them. */
function attributesOf(input: ConversationInput, state: ConversationState): SearchAttributes {
  const agent = input.reopen === undefined ? state.agent : input.agent;
  return new SearchAttributes(input.searchAttributes !== false, shownIds(state), agent);
}

class Shell {
  readonly #input: ConversationInput;
  readonly #machine: ConversationMachine;
  readonly #log: EventLogOfRun;
  readonly #driver: Driver;
  readonly #recovery: Recovery;
  readonly #rollOver: RollOver;
  readonly #offload: TranscriptOffload;
  readonly #recheck = (): void => {
    this.#dirty = true;
  };
  readonly #pauses = new OffloadPauses(this.#recheck);
  readonly #attributes: SearchAttributes;
  readonly #idleClose: IdleClose;
  readonly #marker = new TaskMarker();
  readonly #handlers: InputHandlers;
  /** The inputs that waited until the state was restored. */
  readonly #waiting: readonly WaitingInput[];
  /** The one of them that is taken now. */
  #taken: WaitingInput | undefined;
  /** True while the main loop is blocked: then each input marks its task as it arrives. */
  #isMarking = false;
  #dirty = false;

  constructor(input: ConversationInput, waiting: readonly WaitingInput[] = []) {
    this.#input = input;
    this.#waiting = waiting;
    this.#rollOver = new RollOver(input.rollOver);
    const { state, events } = initialState(input);
    this.#offload = new TranscriptOffload(input, state);
    this.#log = new EventLogOfRun(input, events, state.lastSeq);
    this.#machine = new ConversationMachine({
      state,
      now: () => Date.now(),
      // `uuid4` is seeded by the server, and seeded anew at a reset.
      turnToken: () =>
        this.#recovery.tokenOf(this.#machine.state.turnCount + 1) ?? uuid4().slice(0, 6),
      onEvent: (event) => {
        this.#log.append(event);
      },
      onFaulty: (activity, problem) => {
        log.warn('result of an activity ignored', { activity, problem });
      },
    });
    const wake = (): void => {
      this.#dirty = true;
      if (this.#isMarking) this.#marker.close();
    };
    this.#driver = new Driver({
      machine: this.#machine,
      modelName: input.model ?? input.agent,
      wake,
      acted: () => {
        this.#marker.acted();
      },
    });
    this.#recovery = new Recovery(this.#machine, this.#driver);
    this.#idleClose = new IdleClose(this.#machine, input.settings.idleCloseMs, this.#recheck);
    this.#attributes = attributesOf(input, state);
    const { namespace, memo: { page } = {} } = workflowInfo();
    provideDetails(() =>
      detailsText(this.#machine.state, { namespace, page, ended: this.#log.last('turn_ended') }),
    );
    onRefusedUpdate(() => {
      this.#log.doubt();
    });
    this.#handlers = registerHandlers({
      machine: this.#machine,
      log: this.#log,
      wake,
      recover: (part) => {
        this.#recovery.take(part);
      },
      requestRollOver: () => {
        this.#rollOver.request();
      },
      countSignal: () => {
        this.#rollOver.countSignal();
      },
      countUpdate: () => {
        this.#rollOver.countUpdate();
        // The update leaves two events: accepted, in an earlier task if it waited, and completed.
        this.#marker.acted(this.#taken === undefined ? 2 : 1);
      },
    });
  }

  async run(): Promise<ConversationOutcome> {
    const { carried, reopen, fork } = this.#input;
    if (fork !== undefined) this.#beginFork();
    else if (carried !== undefined && reopen === undefined) this.#dirty = true;
    else if (!(await this.#admitsFirst())) return this.#withoutInput();
    for (;;) {
      await condition(() => this.#dirty);
      this.#dirty = false;
      this.#driver.rethrowFault();
      this.#driver.sync(() => this.#mayStart());
      this.#show();
      if (this.#machine.state.closed) return this.#end();
      const standing = this.#driver.busy ? this.#whenBusy() : this.#whenQuiet();
      if (standing !== undefined) await standing;
      else this.#marker.close();
    }
  }

  /** Lets the calls that a fork takes over wait anew, before any input is judged. */
  #beginFork(): void {
    this.#machine.record([]);
    this.#takeWaiting();
    this.#dirty = true;
  }

  /** A conversation is started only by its first message. A run whose message was refused must not stay open. */
  async #admitsFirst(): Promise<boolean> {
    const admitted = (): boolean => this.#machine.state.turnCount > 0 || this.#machine.state.closed;
    this.#log.hold();
    this.#takeWaiting();
    const isRefused = this.#waiting.length > 0 && !admitted();
    if (isRefused || !(await condition(admitted, EMPTY_RUN_CLOSE_MS))) return false;
    this.#log.release();
    return true;
  }

  /**
   * A reopened conversation stays closed, as it was before the run. A new one does not exist: its run fails, which
   * lets clients start it anew.
   */
  async #withoutInput(): Promise<ConversationOutcome> {
    const { reopen, parent } = this.#input;
    if (parent !== undefined) await this.#report({ parent, end: NOT_ADMITTED });
    if (reopen === undefined)
      throw ApplicationFailure.nonRetryable('The run admitted nothing', 'not_admitted');
    this.#attributes.closed();
    await condition(allHandlersFinished);
    return { status: 'closed', lastSeq: this.#log.shownSeq };
  }

  #takeWaiting(): void {
    for (const input of this.#waiting) {
      this.#taken = input;
      input.take(this.#handlers);
    }
    this.#taken = undefined;
  }

  /**
   * False before a roll-over, so that no new work begins. Turns still continue while a detached tool runs, unless the
   * run is overdue. A turn that needs capacity then waits for some minutes (`#whenBusy`).
   */
  #mayStart(): boolean {
    if (this.#due() === undefined) return true;
    return this.#driver.runsDetached && !this.#rollOver.overdue;
  }

  #due(): RollOverReason | undefined {
    const crowded = this.#offload.possible && isCrowded(this.#machine.state, this.#input.offload);
    return this.#rollOver.due(this.#log.lastSeq, crowded);
  }

  #show(): void {
    const { turn } = this.#machine.state;
    this.#log.hint({ isWaiting: turn !== undefined && !this.#driver.busy });
    if (this.#attributes.update(this.#machine.state)) this.#marker.acted();
  }

  /** Undefined when there is nothing to wait for. */
  #whenQuiet(): Promise<void> | undefined {
    const reason = this.#due();
    if (reason !== undefined) return this.#rollOverNow(reason);
    if (this.#lacksCapacity()) return this.#rollOverNow('turn_size');
    if (this.#idleClose.watch()) this.#marker.acted();
    return undefined;
  }

  /**
   * Waits for quiet when the turn lacks capacity: a roll-over would lose work that runs beside the turn, such as a
   * detached tool.
   */
  #whenBusy(): Promise<void> | undefined {
    return this.#lacksCapacity() ? this.#waitForQuiet() : undefined;
  }

  /** True while the turn cannot continue and no pause is running. */
  #lacksCapacity(): boolean {
    if (needsOffload(this.#machine.state)) return !this.#pauses.isPausing;
    this.#pauses.found();
    return false;
  }

  /**
   * Waits as long as for an unavailable store; does not wait without a store, because a roll-over would not help then.
   */
  async #waitForQuiet(): Promise<void> {
    if (!this.#pauses.hasWaited) {
      this.#marker.acted();
      this.#isMarking = true;
      // Shows whether there is a store. Chunks that it stores now get the same ids at the roll-over.
      await this.#offload.begin(this.#machine.state);
      this.#isMarking = false;
    }
    this.#dirty = true;
    if (!this.#machine.state.closed) this.#pauseOrGiveUp();
  }

  async #rollOverNow(reason: RollOverReason): Promise<void> {
    // Inputs that arrive meanwhile are accepted and carried over; the next run acts on them.
    this.#marker.acted();
    this.#driver.leaveBackground();
    this.#isMarking = true;
    const storing = this.#offload.begin(this.#machine.state);
    const storedSeq = await this.#flush(FLUSH_BEFORE_ROLL_OVER);
    const offloaded = storing === undefined ? undefined : await storing;
    await condition(allHandlersFinished);
    this.#isMarking = false;
    const { closed } = this.#machine.state;
    const next = closed ? undefined : this.#nextRun(reason, storedSeq, offloaded);
    if (next !== undefined) await makeContinueAsNewFunc<typeof conversation>()(next);
    if (!closed) this.#rollOver.postpone(this.#log.lastSeq);
    this.#dirty = true;
    if (!closed) this.#pauseOrGiveUp();
  }

  #pauseOrGiveUp(): void {
    if (this.#pauses.isPausing || !needsOffload(this.#machine.state)) return;
    if (this.#offload.possible && this.#pauses.pause()) this.#marker.acted();
    else this.#machine.endForCapacity();
  }

  /** Returns the input of the next run; undefined when it is too large to be carried over now. */
  #nextRun(
    reason: RollOverReason,
    storedSeq: number,
    offloaded: TranscriptOffloaded | undefined,
  ): ConversationInput | undefined {
    const { state } = this.#machine;
    const carried = offloaded === undefined ? state : withOffloaded(state, offloaded);
    // A roll-over would gain nothing.
    if (reason === 'turn_size' && isCrowded(carried, this.#input.offload)) return undefined;
    if (needsOffload(carried) || !canCarry(carried, this.#log.after(storedSeq))) return undefined;
    if (this.#offload.failed && losesMessages(carried) && !this.#rollOver.overdue) return undefined;
    if (offloaded !== undefined) this.#machine.offloaded(offloaded);
    this.#machine.rolledOver(reason);
    const { knownChunks, unacknowledged } = this.#offload;
    const unconfirmed = this.#log.after(storedSeq);
    return nextInput(this.#input, this.#machine.state, {
      unconfirmed,
      knownChunks,
      unacknowledged,
    });
  }

  /** Returns the seq up to which the store has confirmed the log. Events beyond it are carried over, never lost. */
  async #flush(options = FLUSH_LOG): Promise<number> {
    const { tenant, conversationId } = this.#input;
    const throughSeq = this.#log.lastSeq;
    try {
      const { storedSeq } = await activities.flushLog.executeWithOptions(
        { ...options, summary: `log through seq ${throughSeq}` },
        [{ tenant, conversationId, throughSeq }],
      );
      return Math.min(storedSeq, throughSeq);
    } catch (error) {
      if (isCancellation(error)) throw error;
      return 0;
    }
  }

  async #end(): Promise<ConversationOutcome> {
    this.#attributes.closed();
    await this.#tellRelatives();
    await condition(allHandlersFinished);
    return { status: 'closed', lastSeq: this.#log.lastSeq };
  }

  /** Closes the sub-agents that go with this conversation, reports to the parent, and completes the log. */
  async #tellRelatives(): Promise<void> {
    const { state } = this.#machine;
    const { tenant, conversationId, parent } = state;
    const closing = childrenToClose(state).map(({ childId }) =>
      activities.stopChild.executeWithOptions(
        { ...AT_THE_END, summary: `close sub-agent ${childId}` },
        [{ tenant, conversationId, childId }],
      ),
    );
    const last = parent === undefined ? this.#flush() : this.#report({ parent, end: endOf(state) });
    for (const done of await Promise.allSettled([...closing, last]))
      if (done.status === 'rejected')
        log.warn('a related conversation was not reached', { reason: String(done.reason) });
  }

  async #report(told: { readonly parent: ParentRef; readonly end: ChildEnd }): Promise<void> {
    const { tenant, conversationId } = this.#input;
    await activities.reportToParent.executeWithOptions(
      { ...AT_THE_END, summary: 'report to the parent' },
      [{ tenant, conversationId, throughSeq: this.#log.lastSeq, ...told }],
    );
  }

  /**
   * Handles a cancel from the Temporal UI: resolves everything open as cancelled, and completes the log before the end.
   */
  async cancelled(): Promise<void> {
    // The cancel has reached the running activities; a model call returns its partial output.
    const speaks = (): boolean => this.#driver.busy && this.#machine.state.turn?.phase === 'model';
    if (speaks()) await condition(() => !speaks(), CANCELLED_MODEL_MS);
    this.#machine.close('workflow_cancelled');
    this.#show();
    this.#attributes.closed();
    await this.#tellRelatives();
  }
}
