/**
 * The conversation machine: the only place where inputs become events. After each input it carries out all internal
 * decisions (`committer.ts`). No clock and no effects of its own: the workflow shell and `testConversation` drive it in
 * the same way.
 *
 * M1  Every input handler is synchronous and total: it accepts any value from outside and never throws on it.
 * M2  An input is judged again when it is applied, so the driver may skip the validator.
 * M3  A reply names the `seq` of the recorded event before any decision that follows from it is made.
 */

import type {
  CanonicalEvent,
  EventBody,
  MessageRefused,
  ResolutionRefused,
  RollOverReason,
  TranscriptOffloaded,
} from '../../protocol/log/events.js';
import { SYSTEM_ACTOR } from '../../protocol/values/actors.js';
import type { RecoveredEntry } from '../../protocol/workflow/recovery.js';
import { apply } from '../apply/apply.js';
import { droppedAtRollOver } from '../context/carry-over.js';
import { withOffloaded } from '../context/offloaded.js';
import { needsOffload, turnTooLongText } from '../context/request-window.js';
import { decide, decideCall } from '../decide/decide.js';
import type { EffectOf, ExternalEffect, TimerEffect } from '../decide/effects.js';
import { isInternal } from '../events/internal.js';
import { readEvents } from '../events/tool-runs.js';
import { closeEvents } from '../events/turns.js';
import { plainInput } from '../input/plain-input.js';
import { isRecorded } from '../memory/refusals.js';
import type { ConversationState } from '../state/state.js';
import { callOf } from '../state/state.js';
import {
  isSignal,
  isVerb,
  type OutcomeOf,
  type RefusalOf,
  type ReplyOf,
  type SignalName,
  VERBS,
  type VerbName,
} from '../verbs/table.js';
import type { Outcome, Verb } from '../verbs/verb.js';
import { effectKey, TIMERS, WORK } from '../work/effects.js';
import { resultProblem } from '../work/forms.js';
import type { EffectAt, LossOf, WorkResult, WorkType } from '../work/row.js';
import { overdueEvents } from '../work/timers.js';
import { Committer, type MachineOptions } from './committer.js';

export class ConversationMachine {
  readonly #log: Committer;
  readonly #onFaulty: MachineOptions['onFaulty'];

  constructor(options: MachineOptions) {
    this.#log = new Committer(options);
    this.#onFaulty = options.onFaulty;
  }

  get state(): ConversationState {
    return this.#log.state;
  }

  get nowMs(): number {
    return this.#log.nowMs;
  }

  /**
   * Adds an event that the run before a reset had decided and readers have seen. Skips one that this run has decided
   * again.
   * @throws {RangeError} where an event is missing before it
   */
  adopt(event: CanonicalEvent): void {
    this.#log.adopt(event);
  }

  /**
   * Commits events that other parts of core have decided, and all that follows from them. Returns the `seq` of the
   * first event.
   */
  record(bodies: readonly EventBody[]): number {
    const seq = this.state.lastSeq + 1;
    this.#log.commit(bodies);
    this.#log.settle();
    return seq;
  }

  /** The effects that should be under way now; the driver asks again after every input. */
  effects(): readonly ExternalEffect[] {
    return decide(this.state).filter((effect): effect is ExternalEffect => !isInternal(effect));
  }

  /** Why a request cannot be accepted now, or undefined. Changes nothing. */
  refusalOf<Name extends VerbName>(name: Name, input: unknown): RefusalOf<Name> | undefined {
    const judged = VERBS[name].judge(this.state, plainInput(input), this.nowMs);
    return 'refusal' in judged ? judged.refusal : undefined;
  }

  /** Judges a request and, where it is accepted, records it with all that follows. */
  take<Name extends VerbName>(name: Name, input: unknown): OutcomeOf<Name> {
    return this.#take(VERBS[name], plainInput(input));
  }

  /**
   * Takes a request that came as a signal. Signals have no reply, so a refusal is written to the log; a repeated request
   * is dropped. A late answer expires its call first, so that the order in which the platform delivers timers does not
   * matter.
   */
  takeSignal<Name extends SignalName>(name: Name, input: unknown): OutcomeOf<Name> {
    const plain = plainInput(input);
    const verb: Verb<ReplyOf<Name>, RefusalOf<Name>> = VERBS[name];
    const outcome = this.#take(verb, plain);
    const refused = outcome.accepted ? undefined : verb.refusedSignal?.(plain, outcome.refusal);
    if (refused !== undefined) this.#refuse(refused);
    return outcome;
  }

  #take<Reply, Refused>(verb: Verb<Reply, Refused>, plain: unknown): Outcome<Reply, Refused> {
    const judged = verb.judge(this.state, plain, this.nowMs);
    if ('refusal' in judged) return { accepted: false, refusal: judged.refusal };
    const { accepted } = judged;
    if (accepted.expires !== undefined) this.#expire(accepted.expires);
    const { events, reply: replyTo } = accepted.record(this.state, this.#log.turnToken);
    const seq = this.state.lastSeq + 1;
    this.#log.commit(events);
    const reply = replyTo(this.state, seq);
    this.#log.settle();
    return { accepted: true, reply };
  }

  /** Records a refused signal, up to a limit for each call or message; the rest are counted with the next event. */
  #refuse(refused: MessageRefused | ResolutionRefused): void {
    if (refused.type === 'message_refused' && this.state.closed) return;
    if (refused.type === 'resolution_refused' && refused.verdict === 'expired')
      this.#expire(refused.toolCallId);
    if (isRecorded(this.state, refused)) this.#log.commit([refused]);
    else this.#log.countRefusal();
  }

  /** Closes the conversation for a reason other than a request. */
  close(reason: 'idle' | 'workflow_cancelled'): void {
    if (!this.state.closed)
      this.#log.commit(closeEvents(this.state, { reason, actor: SYSTEM_ACTOR }));
  }

  /**
   * Records the result of the activity of an effect, and the results of the reads that ran inside it. False when nothing
   * is recorded: the state no longer wants just that work, or the result cannot be used. A result that does not have the
   * form of the activity ends the work as failed.
   */
  completed<Type extends WorkType>(effect: EffectOf<Type>, result: WorkResult<Type>): boolean {
    if (!this.#wants(effect)) return false;
    const { type } = effect;
    const { activity, completed, faulty, reads } = WORK[type];
    const problem = resultProblem(type, result);
    if (problem !== undefined) {
      this.#onFaulty?.(activity, problem);
      this.record(faulty(this.#at, effect, problem));
      return false;
    }
    const recorded = completed(this.#at, effect, result);
    this.record(recorded);
    for (const read of reads?.(result, recorded) ?? []) this.record(readEvents(this.state, read));
    return recorded.length > 0;
  }

  /** Records that the activity of an effect was lost. Ignored when the state no longer wants just that work. */
  lost<Type extends WorkType>(effect: EffectOf<Type>, loss: LossOf<Type>): void {
    if (!this.#wants(effect)) return;
    const { type } = effect;
    this.record(WORK[type].lost(this.#at, effect, loss));
  }

  /** Records the end of a wait. Safe to repeat, and when the subject of the timer has ended in the meantime. */
  fired<Type extends TimerEffect['type']>(timer: EffectOf<Type>): void {
    const { type } = timer;
    this.record(TIMERS[type].fired(this.#at, timer));
  }

  /**
   * Records that the blob store has these messages. Safe to repeat, and when they have left the transcript in the
   * meantime.
   */
  offloaded(event: TranscriptOffloaded): void {
    if (withOffloaded(this.state, event) !== this.state) this.#log.commit([event]);
  }

  /** Records that `offload_transcript` has offloaded nothing: the turn fails. */
  endForCapacity(): void {
    const { turn } = this.state;
    if (turn === undefined || !needsOffload(this.state)) return;
    const { turnId, step } = turn;
    const error = { code: 'model_context_too_long', message: turnTooLongText(this.state) } as const;
    this.lost({ type: 'call_model', turnId, step }, { error });
  }

  rolledOver(reason: RollOverReason): void {
    this.#log.commit([
      { type: 'rolled_over', reason, droppedMessages: droppedAtRollOver(this.state) },
    ]);
  }

  get #at(): EffectAt {
    return { state: this.state, nowMs: this.nowMs, turnToken: this.#log.turnToken };
  }

  #expire(callId: string): void {
    this.record(overdueEvents(this.state, callId));
  }

  /** Whether the state wants just this work. The rows of requests to the model judge their ends by themselves. */
  #wants(effect: ExternalEffect): boolean {
    if (!('toolCallId' in effect)) return true;
    const call = callOf(this.state, effect.toolCallId);
    const key = effectKey(effect);
    return (
      call !== undefined &&
      decideCall(call).some((wanted) => !isInternal(wanted) && effectKey(wanted) === key)
    );
  }
}

/**
 * Applies one input of a history that a reset discarded, with the same checks as on its arrival; an input that has
 * already been accepted changes nothing. Unknown names are ignored. Senders have their replies, so new ones are dropped.
 */
export function applyRecoveredInput(
  machine: ConversationMachine,
  { by, name, input }: Extract<RecoveredEntry, { type: 'input' }>,
): void {
  if (by === 'signal' && isSignal(name)) machine.takeSignal(name, input);
  else if (by === 'update' && isVerb(name)) machine.take(name, input);
}

/** The state after the first event of a conversation, or of its reopening. */
export function startedState(
  before: ConversationState | undefined,
  event: Extract<CanonicalEvent, { type: 'conversation_started' }>,
): ConversationState {
  return apply(before, event);
}
