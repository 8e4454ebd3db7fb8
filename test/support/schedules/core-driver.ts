/**
 * A conversation machine under test: keeps its events, carries out effects by a script, rolls over through JSON, and
 * checks the invariants of the core after every step.
 */

import { applyAll } from '../../../src/core/apply/apply.js';
import { fromCarryOver, toCarryOver } from '../../../src/core/context/carry-over.js';
import { type EffectOf, type ExternalEffect, isTimer } from '../../../src/core/decide/effects.js';
import { ConversationMachine, startedState } from '../../../src/core/machine/machine.js';
import type { ConversationState } from '../../../src/core/state/state.js';
import { wholeMessages } from '../../../src/core/state/transcript.js';
import type { OutcomeOf } from '../../../src/core/verbs/table.js';
import { snapshotOf } from '../../../src/core/view/snapshot.js';
import type { Resolution, Verdict } from '../../../src/protocol/calls/resolutions.js';
import type { PendingCall } from '../../../src/protocol/calls/suspensions.js';
import type { AgentSettings } from '../../../src/protocol/conversation/agents.js';
import type { ModelCallDetails } from '../../../src/protocol/conversation/attempts.js';
import type { SendMessageReply } from '../../../src/protocol/conversation/conversation.js';
import type { Message } from '../../../src/protocol/conversation/messages.js';
import type { TurnError } from '../../../src/protocol/conversation/turns.js';
import type { CanonicalEvent, EventType } from '../../../src/protocol/log/events.js';
import type { Json } from '../../../src/protocol/values/json.js';
import type {
  CallModelResult,
  SummarizeResult,
} from '../../../src/protocol/workflow/activities.js';
import { answerChecked, toolFinished } from '../builders/call-ends.js';
import { actor, conversationStarted, VirtualClock } from '../builders/core-builders.js';
import { resolve, sendMessage } from '../builders/verbs.js';

type StepOf = Pick<EffectOf<'call_model'>, 'turnId' | 'step'>;

function copied<Value>(value: Value): Value {
  return JSON.parse(JSON.stringify(value)) as Value;
}

/** More events than any test records; without the limit, decisions that never end would use up the memory. */
const MAX_EVENTS = 50_000;

export class MachineUnderTest {
  readonly clock: VirtualClock;
  readonly events: CanonicalEvent[];
  /** Problems of the results of activities that did not have their form. */
  readonly problems: string[] = [];
  machine: ConversationMachine;
  #marked = 0;
  #requests = 0;

  constructor(events: readonly CanonicalEvent[], clock = new VirtualClock()) {
    this.clock = clock;
    this.events = [...events];
    this.machine = this.#machineOf(this.#folded());
    this.mark();
  }

  get state(): ConversationState {
    return this.machine.state;
  }

  get pending(): readonly PendingCall[] {
    return snapshotOf(this.state).pending;
  }

  effects(): readonly ExternalEffect[] {
    return this.machine.effects();
  }

  effectTypes(): readonly string[] {
    return this.effects().map((effect) => effect.type);
  }

  /** From here on, `types` starts anew. */
  mark(): void {
    this.#marked = this.events.length;
  }

  /** The transcript, where nothing is offloaded. */
  get messages(): readonly Message[] {
    return wholeMessages(this.state.transcript);
  }

  /** Types of the events since the last mark, in order; marks. */
  types(): readonly EventType[] {
    const types = this.events.slice(this.#marked).map((event) => event.type);
    this.mark();
    return types;
  }

  last<Type extends EventType>(type: Type): Extract<CanonicalEvent, { type: Type }> {
    const found = this.all(type).at(-1);
    if (found === undefined) throw new Error(`no ${type} among ${this.events.length} events`);
    return found;
  }

  all<Type extends EventType>(type: Type): readonly Extract<CanonicalEvent, { type: Type }>[] {
    return this.events.filter(
      (event): event is Extract<CanonicalEvent, { type: Type }> => event.type === type,
    );
  }

  trySend(text: string, fields: Record<string, unknown> = {}): OutcomeOf<'sendMessage'> {
    this.#requests += 1;
    const requestId = `message-${this.#requests}`;
    return sendMessage(this.machine, { text, requestId, actor: actor('ann'), ...fields });
  }

  send(text: string, fields: Record<string, unknown> = {}): SendMessageReply {
    const outcome = this.trySend(text, fields);
    if (!outcome.accepted) throw new Error(`refused: ${outcome.refusal.code}`);
    return outcome.reply;
  }

  /** Ends the model call in progress. */
  model(outcome: CallModelResult): this {
    const { turn } = this.state;
    if (turn === undefined) throw new Error('no turn is running');
    this.modelCompleted(turn, outcome);
    return this;
  }

  modelFails(error: TurnError = { code: 'model_unavailable', message: 'down' }): this {
    const { turn } = this.state;
    if (turn === undefined) throw new Error('no turn is running');
    this.modelFailed(turn, error);
    return this;
  }

  modelCompleted({ turnId, step }: StepOf, outcome: CallModelResult): void {
    this.machine.completed({ type: 'call_model', turnId, step }, outcome);
  }

  modelFailed({ turnId, step }: StepOf, error: TurnError, left?: ModelCallDetails): void {
    this.machine.lost({ type: 'call_model', turnId, step }, { error, left });
  }

  modelAborted({ turnId, step }: StepOf, left?: ModelCallDetails): void {
    this.machine.lost({ type: 'call_model', turnId, step }, { left });
  }

  /** False when the summary cannot be used. */
  summarized(ordinal: number, made: SummarizeResult): boolean {
    return this.machine.completed({ type: 'summarize', ordinal }, made);
  }

  turnTimePassed(turnId: string): void {
    this.machine.fired({ type: 'await_turn_limit', turnId, deadline: this.clock.iso() });
  }

  /** Fires the timer of a wait; `deadline`: of the present wait where it is absent. */
  deadlinePassed(toolCallId: string, deadline?: string): void {
    const due = deadline ?? this.state.calls[toolCallId]?.suspension?.deadline ?? '';
    const wait = { kind: 'approval', name: '', deadline: due } as const;
    this.machine.fired({ type: 'await_deadline', toolCallId, ...wait });
  }

  tool(toolCallId: string, value: Json = 'done'): this {
    toolFinished(this.machine, toolCallId, {
      envelope: { ok: true, result: value },
      executionMs: 5,
    });
    return this;
  }

  resolve(
    toolCallId: string,
    resolution: Resolution,
    fields: Record<string, unknown> = {},
  ): Verdict {
    this.#requests += 1;
    const requestId = `resolution-${this.#requests}`;
    return resolve(this.machine, {
      toolCallId,
      resolution,
      requestId,
      actor: actor('ben'),
      ...fields,
    });
  }

  checked(toolCallId: string, value: Json): this {
    const requestId = this.state.calls[toolCallId]?.answer?.requestId ?? '';
    answerChecked(this.machine, { toolCallId, requestId }, { ok: true, value });
    return this;
  }

  checkFails(toolCallId: string, message = 'no such order'): this {
    const requestId = this.state.calls[toolCallId]?.answer?.requestId ?? '';
    const problems = [{ path: '/resolution/value', message }];
    answerChecked(this.machine, { toolCallId, requestId }, { ok: false, problems });
    return this;
  }

  /** Moves the clock, and fires every deadline that it reaches, as a driver's timers would. */
  advance(milliseconds: number): this {
    this.clock.advance(milliseconds);
    for (const effect of this.effects())
      if (isTimer(effect) && Date.parse(effect.deadline) <= this.clock.now())
        this.machine.fired(effect);
    return this;
  }

  /** Acts as continue-as-new: the state travels as JSON into a new run. */
  rollOver(): this {
    this.machine.rolledOver('requested');
    this.machine = this.#machineOf(fromCarryOver(copied(toCarryOver(this.state))));
    return this;
  }

  /** Acts as the loss of a worker between two inputs: the state comes back from JSON, and nothing else. */
  restart(): this {
    this.machine = this.#machineOf(copied(this.state));
    return this;
  }

  /** Acts as a repair whose log ends after so many events: the log is folded, and a run of the same chain continues. */
  repairAt(events: number): this {
    this.events.length = events;
    this.machine = this.#machineOf(this.#folded());
    this.machine.record([]);
    return this;
  }

  #folded(): ConversationState {
    const state = applyAll(this.events);
    if (state === undefined) throw new Error('a log begins with conversation_started');
    return state;
  }

  /** Acts as a re-opening: the log is folded, and a new chain continues with it. */
  reopen(chain = 'chain0000002'): this {
    const before = applyAll(this.events);
    const seq = (before?.lastSeq ?? 0) + 1;
    const event = {
      ...conversationStarted(this.state.settings),
      chain,
      reopened: true as const,
      seq,
      at: this.clock.iso(),
    };
    this.events.push(event);
    this.machine = this.#machineOf(startedState(before, event));
    return this;
  }

  #machineOf(state: ConversationState): ConversationMachine {
    return new ConversationMachine({
      state,
      now: this.clock.now,
      onEvent: (event) => {
        this.events.push(event);
        if (this.events.length > MAX_EVENTS) throw new Error('the log grows without end');
      },
      onFaulty: (_activity, problem) => {
        this.problems.push(problem);
      },
    });
  }
}

/** A conversation that has just started. */
export function aMachine(
  options: { readonly settings?: Partial<AgentSettings> } = {},
): MachineUnderTest {
  const clock = new VirtualClock();
  const started = { ...conversationStarted(options.settings), seq: 1, at: clock.iso() };
  return new MachineUnderTest([started], clock);
}

/** A conversation with a running turn, whose model has asked for these calls; the mark is set. */
export function aMachineWith(
  outcome: CallModelResult,
  options: { readonly settings?: Partial<AgentSettings> } = {},
): MachineUnderTest {
  const m = aMachine(options);
  m.send('hello');
  m.model(outcome);
  m.mark();
  return m;
}
