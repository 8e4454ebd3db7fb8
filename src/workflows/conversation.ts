/**
 * The `conversation` workflow: one per conversation, the same for every agent, with no user code. A thin shell: opens the
 * doors, lets the machine decide, lets the driver carry out, rolls over at quiet points, ends when the conversation closes.
 */
import { ApplicationFailure } from '@temporalio/common';
import {
  allHandlersFinished,
  CancellationScope,
  condition,
  isCancellation,
  makeContinueAsNewFunc,
  sleep,
  uuid4,
} from '@temporalio/workflow';
import { detachedCalls } from '../core/aside.js';
import { type Spilled, withStored } from '../core/context/stored.js';
import { ConversationMachine } from '../core/machine.js';
import { isoOf } from '../core/state.js';
import type { RollOverReason } from '../protocol/events.js';
import { idProblem } from '../protocol/ids.js';
import { isRecord } from '../protocol/json.js';
import { EMPTY_RUN_CLOSE_MS, MAX_WAIT_MS } from '../protocol/limits.js';
import type { ConversationInput } from '../protocol/messaging.js';
import { initialState, nextInput } from './carried.js';
import { provideDetails } from './details.js';
import { openDoors } from './doors.js';
import { Driver } from './driver.js';
import { EventLogOfRun } from './event-log.js';
import { TaskOrigin } from './inline.js';
import { canCarry, losesMessages, RollOver } from './roll-over.js';
import { activities, FLUSH_BEFORE_ROLL_OVER, FLUSH_LOG } from './schedule.js';
import { detailsText, SearchAttributes, shownIds } from './show.js';
import { Spill } from './spill.js';
import { TaskSeal } from './task-seal.js';

/** Longer than a cancel needs to reach an activity (`HEARTBEAT_THROTTLE_MS`); a worker that is gone is not waited for longer. */
const CANCELLED_MODEL_MS = 5_000;

export interface ConversationOutcome {
  readonly status: 'closed';
  readonly lastSeq: number;
}

export async function conversation(input: ConversationInput): Promise<ConversationOutcome> {
  const shell = new Shell(checkedInput(input));
  try {
    return await shell.run();
  } catch (error) {
    if (!isCancellation(error)) throw error;
    await CancellationScope.nonCancellable(() => shell.cancelled());
    throw error;
  }
}

/** Arguments that no client of ours sends: the run ends at once, and says why. */
function checkedInput(input: ConversationInput): ConversationInput {
  const received: unknown = input;
  const given: Readonly<Record<string, unknown>> = isRecord(received) ? received : {};
  const problem =
    idProblem('tenant', given['tenant']) ??
    idProblem('conversationId', given['conversationId']) ??
    idProblem('agent', given['agent']) ??
    settingsProblem(given['settings']) ??
    boundsProblem('rollOver', given['rollOver']) ??
    boundsProblem('spill', given['spill']) ??
    carriedProblem(given['carried']);
  if (problem !== undefined)
    throw ApplicationFailure.nonRetryable(
      `conversation cannot start: ${problem}`,
      'invalid_request',
    );
  return input;
}

/** A bound that is missing would make a turn endless, or a timer impossible: the task would fail for ever. */
function settingsProblem(settings: unknown): string | undefined {
  if (!isRecord(settings)) return 'settings must be given';
  const { maxSteps, onBusy, idleCloseMs } = settings;
  if (!isPositive(maxSteps)) return 'settings.maxSteps must be a positive number';
  if (!isPositive(idleCloseMs) || idleCloseMs > MAX_WAIT_MS)
    return `settings.idleCloseMs must be a positive number, at most ${MAX_WAIT_MS}`;
  return typeof onBusy === 'string' ? undefined : 'settings.onBusy must be a text';
}

/** A bound of 0 would have a run do nothing but roll over. */
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

function isPositive(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value > 0;
}

class Shell {
  readonly #input: ConversationInput;
  readonly #machine: ConversationMachine;
  readonly #log: EventLogOfRun;
  readonly #driver: Driver;
  readonly #rollOver: RollOver;
  readonly #spill: Spill;
  readonly #attributes: SearchAttributes;
  readonly #seal: TaskSeal;
  /** The main loop stands still, so whatever is recorded is sealed as it comes. */
  #isSealing = false;
  #dirty = false;
  #idleTimer = false;

  constructor(input: ConversationInput) {
    this.#input = input;
    this.#rollOver = new RollOver(input.rollOver);
    this.#spill = new Spill(input);
    const { state, events } = initialState(input);
    this.#log = new EventLogOfRun(input, events, state.lastSeq);
    this.#machine = new ConversationMachine({
      state,
      now: () => Date.now(),
      // Seeded by the server, anew at a reset.
      turnToken: () => uuid4().slice(0, 6),
      onEvent: (event) => {
        this.#log.append(event);
      },
    });
    this.#seal = new TaskSeal(input.sealTasks === true, state.lastSeq);
    const wake = (): void => {
      this.#dirty = true;
      if (this.#isSealing) this.#seal.close(this.#log.lastSeq);
    };
    const origin = new TaskOrigin();
    this.#driver = new Driver({
      machine: this.#machine,
      modelName: input.model ?? input.agent,
      goesOn: input.packs === true,
      origin,
      wake,
      acted: () => {
        this.#seal.acted();
      },
    });
    // A re-opened conversation had nothing pending; after a roll-over the attributes are still those of the last run.
    this.#attributes = new SearchAttributes(input.searchAttributes !== false, shownIds(state));
    provideDetails(() => detailsText(this.#machine.state, this.#log.last('turn_ended')));
    openDoors({
      machine: this.#machine,
      log: this.#log,
      wake,
      requestRollOver: () => {
        this.#rollOver.request();
      },
      countSignal: () => {
        origin.input();
        this.#rollOver.countSignal();
      },
      countUpdate: () => {
        origin.input();
        this.#rollOver.countUpdate();
        // It was accepted, and is completed.
        this.#seal.acted(2);
      },
    });
  }

  async run(): Promise<ConversationOutcome> {
    if (this.#input.carried === undefined || this.#input.carried.reopened === true)
      await this.#firstInput();
    else this.#dirty = true;
    for (;;) {
      await condition(() => this.#dirty);
      this.#dirty = false;
      this.#driver.rethrowFault();
      this.#driver.sync(() => this.#mayStart());
      this.#show();
      if (this.#machine.state.closed) return this.#end();
      const rollingOver = this.#driver.busy ? undefined : this.#whenQuiet();
      if (rollingOver !== undefined) await rollingOver;
      else this.#seal.close(this.#log.lastSeq);
    }
  }

  /** A conversation is started by its first message only. A run whose message was refused must not stay open. */
  async #firstInput(): Promise<void> {
    const admitted = (): boolean => this.#machine.state.turnCount > 0 || this.#machine.state.closed;
    if (await condition(admitted, EMPTY_RUN_CLOSE_MS)) return;
    throw ApplicationFailure.nonRetryable('The run admitted nothing', 'not_admitted');
  }

  /** Before a roll-over nothing new begins; but turns do not stand still for as long as a detached tool runs. */
  #mayStart(): boolean {
    if (this.#rollOver.due(this.#log.lastSeq) === undefined) return true;
    return this.#driver.runsDetached && !this.#rollOver.overdue;
  }

  #show(): void {
    const { turn } = this.#machine.state;
    this.#log.hint({ isWaiting: turn !== undefined && !this.#driver.busy });
    if (this.#attributes.update(this.#machine.state)) this.#seal.acted();
  }

  /** Undefined when there is nothing to wait for. */
  #whenQuiet(): Promise<void> | undefined {
    const reason = this.#rollOver.due(this.#log.lastSeq);
    if (reason !== undefined) return this.#rollOverNow(reason);
    this.#watchIdleness();
    return undefined;
  }

  async #rollOverNow(reason: RollOverReason): Promise<void> {
    // Inputs that come meanwhile are accepted and carried; what follows from them is done by the next run.
    this.#seal.acted();
    this.#driver.leaveBackground();
    this.#isSealing = this.#input.sealRollOvers === true;
    const storing = this.#spill.begin(this.#machine.state);
    const storedSeq = await this.#flush(FLUSH_BEFORE_ROLL_OVER);
    const spilled = storing === undefined ? undefined : await storing;
    await condition(allHandlersFinished);
    this.#isSealing = false;
    const { closed } = this.#machine.state;
    const next = closed ? undefined : this.#nextRun(reason, storedSeq, spilled);
    if (next !== undefined) await makeContinueAsNewFunc<typeof conversation>()(next);
    if (!closed) this.#rollOver.postpone(this.#log.lastSeq);
    this.#dirty = true;
  }

  /** What it begins with; undefined when that is too much to be carried now. */
  #nextRun(
    reason: RollOverReason,
    storedSeq: number,
    spilled: Spilled | undefined,
  ): ConversationInput | undefined {
    const { state } = this.#machine;
    const carried = spilled === undefined ? state : withStored(state, spilled);
    if (!canCarry(carried, this.#log.after(storedSeq))) return undefined;
    if (this.#spill.failed && losesMessages(carried) && !this.#rollOver.overdue) return undefined;
    if (spilled !== undefined) this.#machine.stored(spilled);
    this.#machine.rolledOver(reason);
    const { knownChunks, untold } = this.#spill;
    const unconfirmed = this.#log.after(storedSeq);
    return nextInput(this.#input, this.#machine.state, { unconfirmed, knownChunks, untold });
  }

  /** Returns how far the store has confirmed the log; what it lacks is carried, never lost. */
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

  /** One timer a run, looked at again when it fires: a timer per turn would cost two events each. */
  #watchIdleness(): void {
    if (this.#idleTimer || this.#machine.state.turn !== undefined) return;
    // What comes of a detached call must find the conversation open; looked at again when it has come.
    if (detachedCalls(this.#machine.state).length > 0) return;
    this.#idleTimer = true;
    this.#seal.acted();
    const { idleCloseMs } = this.#input.settings;
    const closeAt = Date.parse(this.#machine.state.updatedAt) + idleCloseMs;
    const summary = `close when idle until ${isoOf(closeAt)}`;
    void sleep(Math.max(1, closeAt - Date.now()), { summary }).then(
      () => {
        this.#idleTimer = false;
        const { turn, updatedAt, queue } = this.#machine.state;
        const idle =
          turn === undefined &&
          queue.length === 0 &&
          detachedCalls(this.#machine.state).length === 0;
        if (idle && Date.now() >= Date.parse(updatedAt) + idleCloseMs) this.#machine.close('idle');
        this.#dirty = true;
      },
      () => undefined,
    );
  }

  async #end(): Promise<ConversationOutcome> {
    this.#attributes.closed();
    await this.#flush();
    await condition(allHandlersFinished);
    return { status: 'closed', lastSeq: this.#log.lastSeq };
  }

  /** A cancel from the Temporal UI: everything open is resolved as cancelled, and the log is complete before the end. */
  async cancelled(): Promise<void> {
    // The cancel has reached what runs; a model call comes back with what it has said until now.
    const speaks = (): boolean => this.#driver.busy && this.#machine.state.turn?.phase === 'model';
    if (speaks()) await condition(() => !speaks(), CANCELLED_MODEL_MS);
    this.#machine.close('workflow_cancelled');
    this.#show();
    this.#attributes.closed();
    await this.#flush();
  }
}
