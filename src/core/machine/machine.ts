/**
 * The conversation machine: the only place where inputs become events. After each input it carries out all internal
 * decisions (`committer.ts`). No clock and no effects of its own: the workflow shell and `testConversation` drive it in
 * the same way.
 *
 * M1  Every input handler is synchronous and total: it accepts any value from outside and never throws on it.
 * M2  An input is judged again when it is applied, so the driver may skip the validator.
 * M3  A reply names the `seq` of the recorded event before any decision that follows from it is made.
 */

import type { CheckDefinitionResult } from '../../protocol/calls/definitions.js';
import type { PlannedCall } from '../../protocol/calls/plan.js';
import type { Verdict } from '../../protocol/calls/resolutions.js';
import { isAccepted } from '../../protocol/calls/resolutions.js';
import type { ModelCallDetails } from '../../protocol/conversation/attempts.js';
import type {
  CancelTurnReply,
  CloseConversationReply,
  SendMessageReply,
} from '../../protocol/conversation/conversation.js';
import type { TurnError } from '../../protocol/conversation/turns.js';
import type {
  CanonicalEvent,
  EventBody,
  MessageRefused,
  ResolutionRefused,
  RollOverReason,
} from '../../protocol/log/events.js';
import { actorFrom, SYSTEM_ACTOR } from '../../protocol/values/actors.js';
import { isRecord } from '../../protocol/values/json.js';
import { wellFormedJson } from '../../protocol/values/well-formed.js';
import type {
  CallModelResult,
  CheckAnswerResult,
  CheckEditResult,
  PreflightToolResult,
  ReconcileToolResult,
  RunToolResult,
  SummarizeResult,
} from '../../protocol/workflow/activities.js';
import { apply } from '../apply/apply.js';
import type { Loss } from '../calls/results.js';
import { droppedAtRollOver } from '../context/carry-over.js';
import { type Offloaded, withStored } from '../context/offloaded.js';
import { needsOffload, turnTooLongText } from '../context/request-window.js';
import { decide, decideCall, isUnchecked } from '../decide/decide.js';
import { type ExternalEffect, isInternal } from '../decide/effects.js';
import { definitionCheckedEvents, definitionNotCheckedEvents } from '../events/definitions.js';
import { type ModelCallEnd, modelEndedEvents } from '../events/model-calls.js';
import { messageRefusedEvent, resolutionRefusedEvent } from '../events/refusals.js';
import {
  answerCheckedEvents,
  editCheckedEvents,
  expiryEvents,
  resolutionEvents,
} from '../events/resolutions.js';
import { summarizedEvents } from '../events/summaries.js';
import {
  notPlannedEvents,
  offeredReads,
  plannedEvents,
  preflightEvents,
  readEvents,
  reconciledEvents,
  toolFinishedEvents,
  toolLostEvents,
} from '../events/tool-runs.js';
import { cancelEvents, closeEvents, INTERRUPTED, messageEvent } from '../events/turns.js';
import { plainInput } from '../input/plain-input.js';
import { judgeCancel } from '../judge/cancels.js';
import type { Refusal } from '../judge/messages.js';
import { judgeMessage } from '../judge/messages.js';
import { judgeResolution } from '../judge/resolutions.js';
import { rememberedMessage } from '../memory/memory.js';
import { isRecorded } from '../memory/refusals.js';
import type { CallState, ConversationState, TurnState } from '../state/state.js';
import { Committer, type MachineOptions } from './committer.js';

export type MessageOutcome =
  | { readonly accepted: true; readonly reply: SendMessageReply }
  | { readonly accepted: false; readonly refusal: Refusal };

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

  refuseMessage(input: unknown): Refusal | undefined {
    return judgeMessage(this.state, input);
  }

  sendMessage(input: unknown): MessageOutcome {
    const plain = plainInput(input);
    const refusal = this.refuseMessage(plain);
    if (refusal !== undefined) return { accepted: false, refusal };
    const seq = this.state.lastSeq + 1;
    const message = messageEvent(this.state, plain, this.#log.turnToken);
    const { turn } = this.state;
    this.#log.commit([message]);
    if (message.onBusy === 'interrupt' && turn !== undefined && turn.cancel === undefined) {
      const by = { turnId: turn.turnId, actor: message.actor, reason: INTERRUPTED };
      this.#log.commit(cancelEvents(this.state, by));
    }
    const reply = rememberedMessage(this.state, message.requestId)?.reply;
    this.#log.settle();
    const { turnId, messageId } = message;
    return { accepted: true, reply: reply ?? { turnId, messageId, seq, ahead: 0 } };
  }

  /**
   * Accepts a message that came as a signal. Signals have no reply, so a refusal is written to the log (`refuse`); a
   * duplicate is dropped.
   */
  sendMessageBySignal(input: unknown): void {
    const plain = plainInput(input);
    const outcome = this.sendMessage(plain);
    if (outcome.accepted || outcome.refusal.code === 'duplicate' || this.state.closed) return;
    this.refuse(wellFormedJson(messageRefusedEvent(plain, outcome.refusal.code)));
  }

  /** Records a refused signal, up to a limit for each call or message; the rest are counted with the next event. */
  refuse(refused: MessageRefused | ResolutionRefused): void {
    if (isRecorded(this.state, refused)) this.#log.commit([refused]);
    else this.#log.countRefusal();
  }

  judgeResolution(input: unknown): Verdict | undefined {
    const judged = judgeResolution(this.state, input, this.nowMs);
    return judged.verdict === 'acceptable' ? undefined : judged;
  }

  resolve(input: unknown): Verdict {
    const judged = judgeResolution(this.state, input, this.nowMs);
    if (judged.verdict !== 'acceptable') return judged;
    const { verdict: _ok, call: before, suspension, ...accepted } = judged;
    const { toolCallId } = before.plan;
    if (accepted.late === true) this.deadlinePassed(toolCallId);
    const call = this.state.calls[toolCallId] ?? before;
    const { kind } = suspension;
    const seq = this.record(resolutionEvents(this.state, call, { kind, ...accepted }));
    const unchecked = isUnchecked(call, accepted.resolution) ? { checked: false as const } : {};
    const verdict = accepted.late === true ? 'accepted_late' : 'accepted';
    return { verdict, toolCallId, seq, ...unchecked };
  }

  /**
   * Accepts a resolution that came as a signal. Signals have no reply, so a refusal is written to the log (`refuse`); a
   * duplicate is dropped. A late one expires its call first, so that the order in which the platform delivers timers
   * does not matter.
   */
  resolveBySignal(input: unknown): Verdict {
    const plain = plainInput(input);
    const verdict = this.resolve(plain);
    if (isAccepted(verdict) || verdict.verdict === 'duplicate') return verdict;
    const refused = wellFormedJson(resolutionRefusedEvent(plain, verdict));
    if (verdict.verdict === 'expired') this.deadlinePassed(refused.toolCallId);
    this.refuse(refused);
    return verdict;
  }

  cancelTurn(input: unknown): CancelTurnReply {
    const judged = judgeCancel(this.state, input);
    if ('reply' in judged) return judged.reply;
    const seq = this.state.lastSeq + 1;
    this.#log.commit(cancelEvents(this.state, judged.cancel));
    this.#log.settle();
    return { cancelled: true, turnId: judged.cancel.turnId, seq };
  }

  /** Handles the end of the turn's time. Safe to repeat, and when the turn has ended in the meantime. */
  turnTimePassed(turnId: string): void {
    const { turn } = this.state;
    if (turn?.turnId !== turnId) return;
    if (turn.stop !== undefined || turn.cancel !== undefined) return;
    this.#log.commit([{ type: 'turn_limit_reached', turnId, limit: 'time_budget' }]);
    this.#log.settle();
  }

  close(
    reason: 'requested' | 'idle' | 'workflow_cancelled',
    input?: unknown,
  ): CloseConversationReply {
    if (!this.state.closed) {
      const fields = plainInput(input);
      const actor = isRecord(fields) ? actorFrom(fields['actor']) : SYSTEM_ACTOR;
      this.#log.commit(closeEvents(this.state, { reason, actor }));
    }
    return { closed: true, seq: this.state.lastSeq };
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

  /** Outcome of `plan_call`. */
  callPlanned(callId: string, plan: PlannedCall): void {
    this.#forOpenCall(callId, (call) => plannedEvents(this.state, call, plan));
  }

  /** Outcome of `plan_call` when no worker could plan the call: the call does not run. */
  callNotPlanned(callId: string, loss: Loss): void {
    this.#forOpenCall(callId, (call) => notPlannedEvents(call, loss));
  }

  toolFinished(callId: string, outcome: RunToolResult): void {
    this.#forOpenCall(callId, (call) =>
      wants(call, 'run_tool') ? toolFinishedEvents(this.state, call, outcome) : [],
    );
  }

  toolLost(callId: string, loss: Loss): void {
    this.#forOpenCall(callId, (call) =>
      wants(call, 'run_tool') ? toolLostEvents(call, loss) : [],
    );
  }

  toolPrepared(callId: string, outcome: PreflightToolResult): void {
    this.#forOpenCall(callId, (call) =>
      wants(call, 'preflight_tool') ? preflightEvents(call, outcome) : [],
    );
  }

  toolReconciled(callId: string, outcome: ReconcileToolResult): void {
    this.#forOpenCall(callId, (call) =>
      wants(call, 'reconcile_tool') ? reconciledEvents(call, outcome) : [],
    );
  }

  /** Outcome of `check_answer`; ignored unless it is about the current answer of the call. */
  answerChecked(at: { toolCallId: string; requestId: string }, outcome: CheckAnswerResult): void {
    const { toolCallId, requestId } = at;
    const before = this.state.calls[toolCallId];
    if (before?.answer?.requestId !== requestId) return;
    this.#forOpenCall(toolCallId, (call) => answerCheckedEvents(call, outcome));
  }

  /** Outcome of `check_edit`; ignored unless it is about the current edit of the call. */
  editChecked(at: { toolCallId: string; requestId: string }, outcome: CheckEditResult): void {
    const { toolCallId, requestId } = at;
    this.#forOpenCall(toolCallId, (call) =>
      call.edit?.requestId === requestId ? editCheckedEvents(this.state, call, outcome) : [],
    );
  }

  /** Outcome of `check_definition`. */
  definitionChecked(callId: string, outcome: CheckDefinitionResult): void {
    this.#forOpenCall(callId, (call) =>
      wants(call, 'check_definition')
        ? definitionCheckedEvents(this.state, call, { outcome, nowMs: this.nowMs })
        : [],
    );
  }

  definitionNotChecked(callId: string, loss: Loss): void {
    this.#forOpenCall(callId, (call) =>
      wants(call, 'check_definition') ? definitionNotCheckedEvents(call, loss) : [],
    );
  }

  /**
   * Handles the fired timer of a suspension. Safe to repeat, and when the suspension has been resolved in the meantime.
   */
  deadlinePassed(callId: string, deadline?: string): void {
    this.#forOpenCall(callId, (call) => {
      const { suspension } = call;
      if (suspension === undefined) return [];
      return deadline === undefined || suspension.deadline === deadline ? expiryEvents(call) : [];
    });
  }

  /**
   * Marks the bodies of these messages as offloaded to the blob store. Not an event: the content of the conversation is
   * unchanged.
   */
  stored(offloaded: Offloaded): void {
    this.#log.replace(withStored(this.state, offloaded));
  }

  /** Outcome of `make_room` when nothing could be offloaded: the turn fails. */
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
    const call = Object.hasOwn(this.state.calls, callId) ? this.state.calls[callId] : undefined;
    if (call === undefined || (call.result !== undefined && call.background !== 'late')) return;
    this.#log.commit(events(call));
    this.#log.settle();
  }
}

/** True when such work may be under way; the outcome of any other work is not this call's. */
function wants(call: CallState, type: ExternalEffect['type']): boolean {
  return decideCall(call).some((effect) => effect.type === type);
}

/** The state after the first event of a conversation, or of its reopening. */
export function startedState(
  before: ConversationState | undefined,
  event: Extract<CanonicalEvent, { type: 'conversation_started' }>,
): ConversationState {
  return apply(before, event);
}
