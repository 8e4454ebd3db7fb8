/**
 * The conversation machine: the only place where inputs become events. After each input it carries out all internal
 * decisions (`committer.ts`). No clock and no effects of its own: the workflow shell and `testConversation` drive it in
 * the same way.
 *
 * M1  Every input handler is synchronous and total: it accepts any value from outside and never throws on it.
 * M2  An input is judged again when it is applied, so the driver may skip the validator.
 * M3  A reply names the `seq` of the recorded event before any decision that follows from it is made.
 */

import type { ModelCallDetails } from '../../protocol/conversation/attempts.js';
import type { TurnError } from '../../protocol/conversation/turns.js';
import type {
  CanonicalEvent,
  EventBody,
  MessageRefused,
  ResolutionRefused,
  RollOverReason,
  TranscriptOffloaded,
} from '../../protocol/log/events.js';
import { SYSTEM_ACTOR } from '../../protocol/values/actors.js';
import type { CallModelResult, SummarizeResult } from '../../protocol/workflow/activities.js';
import { apply } from '../apply/apply.js';
import { droppedAtRollOver } from '../context/carry-over.js';
import { withOffloaded } from '../context/offloaded.js';
import { needsOffload, turnTooLongText } from '../context/request-window.js';
import { decide, decideCall } from '../decide/decide.js';
import { type ExternalEffect, effectKey } from '../decide/effects.js';
import { isInternal } from '../events/internal.js';
import { type ModelCallEnd, modelEndedEvents } from '../events/model-calls.js';
import { expiryEvents } from '../events/resolutions.js';
import { summarizedEvents } from '../events/summaries.js';
import { offeredReads, readEvents } from '../events/tool-runs.js';
import { closeEvents } from '../events/turns.js';
import { plainInput } from '../input/plain-input.js';
import { isRecorded } from '../memory/refusals.js';
import type { CallState } from '../state/calls.js';
import { hasEnded } from '../state/calls.js';
import type { ConversationState, TurnState } from '../state/state.js';
import { callOf, isStopping } from '../state/state.js';
import {
  type OutcomeOf,
  type RefusalOf,
  type ReplyOf,
  type SignalName,
  VERBS,
  type VerbName,
} from '../verbs/table.js';
import type { Outcome, Verb } from '../verbs/verb.js';
import {
  type CallEffect,
  type CallWorkEnd,
  type CallWorkType,
  callEndedEvents,
} from '../work/calls.js';
import { Committer, type MachineOptions } from './committer.js';

type StepOf = Pick<TurnState, 'turnId' | 'step'>;

export class ConversationMachine {
  readonly #log: Committer;

  constructor(options: MachineOptions) {
    this.#log = new Committer(options);
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
    if (accepted.expires !== undefined) this.deadlinePassed(accepted.expires);
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
      this.deadlinePassed(refused.toolCallId);
    if (isRecorded(this.state, refused)) this.#log.commit([refused]);
    else this.#log.countRefusal();
  }

  /** Handles the end of the turn's time. Safe to repeat, and when the turn has ended in the meantime. */
  turnTimePassed(turnId: string): void {
    const { turn } = this.state;
    if (turn?.turnId !== turnId || isStopping(turn)) return;
    this.#log.commit([{ type: 'turn_limit_reached', turnId, limit: 'time_budget' }]);
    this.#log.settle();
  }

  /** Closes the conversation for a reason other than a request. */
  close(reason: 'idle' | 'workflow_cancelled'): void {
    if (!this.state.closed)
      this.#log.commit(closeEvents(this.state, { reason, actor: SYSTEM_ACTOR }));
  }

  /**
   * Outcome of `call_model`, with the results of the reads that ran inside it. Dropped when it no longer belongs to the
   * state (the turn has ended).
   */
  modelCompleted(at: StepOf, outcome: CallModelResult): void {
    const recorded = this.#modelEnded(at, { outcome });
    for (const read of offeredReads(outcome, recorded)) {
      this.#log.commit(readEvents(this.state, read));
      this.#log.settle();
    }
  }

  /** Outcome of `abort_model` when no model call was under way, or when the call left only its usage. */
  modelAborted(at: StepOf, left?: ModelCallDetails): void {
    this.#modelEnded(at, { left });
  }

  /** Outcome of a failed `call_model`. `left`: details and usage of its attempts. */
  modelFailed(at: StepOf, error: TurnError, left?: ModelCallDetails): void {
    this.#modelEnded(at, { error, left });
  }

  #modelEnded(at: StepOf, end: ModelCallEnd): readonly EventBody[] {
    const events = modelEndedEvents(this.state, at, end);
    if (events.length === 0) return events;
    this.#log.commit(events);
    this.#log.settle();
    return events;
  }

  /**
   * Outcome of `summarize`. False when the summary cannot be used: it covers turns that are missing or not old enough.
   */
  summarized(ordinal: number, made: SummarizeResult): boolean {
    const events = this.state.closed ? [] : summarizedEvents(this.state, ordinal, made);
    this.#log.commit(events);
    this.#log.settle();
    return events.length > 0;
  }

  /** Records the end of work on a call. Ignored unless the call still wants just that work. */
  callEnded<Type extends CallWorkType>(effect: CallEffect<Type>, end: CallWorkEnd<Type>): void {
    this.#forOpenCall(effect.toolCallId, (call) =>
      wants(call, effect)
        ? callEndedEvents(effect, { state: this.state, call, nowMs: this.nowMs }, end)
        : [],
    );
  }

  /**
   * Handles the fired timer of a suspension. Safe to repeat, and when the suspension has been resolved in the meantime.
   */
  deadlinePassed(callId: string, deadline?: string): void {
    this.#forOpenCall(callId, (call) => {
      if (call.suspension === undefined) return [];
      const isDue = deadline === undefined || call.suspension.deadline === deadline;
      return isDue ? expiryEvents(call) : [];
    });
  }

  /**
   * Records that the blob store has these messages. Safe to repeat, and when they have left the transcript in the
   * meantime.
   */
  offloaded(event: TranscriptOffloaded): void {
    if (withOffloaded(this.state, event) !== this.state) this.#log.commit([event]);
  }

  /** Outcome of `offload_transcript` when nothing could be offloaded: the turn fails. */
  endForCapacity(): void {
    const { turn } = this.state;
    if (turn === undefined || !needsOffload(this.state)) return;
    const message = turnTooLongText(this.state);
    this.modelFailed(turn, { code: 'model_context_too_long', message });
  }

  rolledOver(reason: RollOverReason): void {
    this.#log.commit([
      { type: 'rolled_over', reason, droppedMessages: droppedAtRollOver(this.state) },
    ]);
  }

  #forOpenCall(callId: string, events: (call: CallState) => readonly EventBody[]): void {
    const call = callOf(this.state, callId);
    if (call === undefined || hasEnded(call)) return;
    this.#log.commit(events(call));
    this.#log.settle();
  }
}

function wants(call: CallState, effect: CallEffect): boolean {
  const key = effectKey(effect);
  return decideCall(call).some((wanted) => !isInternal(wanted) && effectKey(wanted) === key);
}

/** The state after the first event of a conversation, or of its reopening. */
export function startedState(
  before: ConversationState | undefined,
  event: Extract<CanonicalEvent, { type: 'conversation_started' }>,
): ConversationState {
  return apply(before, event);
}
