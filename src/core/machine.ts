/**
 * The conversation machine: the one place where inputs become events. Holds the state, commits events, and after each input
 * carries out every decision that needs nobody outside. No clock and no effects of its own: the workflow shell and
 * `testConversation` drive it alike.
 *
 * M1  Every input handler is synchronous and total: it takes what came over the wire and never throws on it.
 * M2  An input is judged again when it is applied, so whoever drives may skip the validator.
 * M3  A reply names the `seq` of what was recorded before anything that follows from it is decided.
 */
import type {
  CallModelResult,
  CheckAnswerResult,
  CheckEditResult,
  PreflightToolResult,
  ReconcileToolResult,
  RunToolResult,
  SummarizeResult,
} from '../protocol/activities.js';
import { actorFrom, SYSTEM_ACTOR } from '../protocol/actors.js';
import type {
  CancelTurnReply,
  CloseConversationReply,
  SendMessageReply,
} from '../protocol/conversation.js';
import type { CanonicalEvent, EventBody, RollOverReason, TurnError } from '../protocol/events.js';
import { isRecord } from '../protocol/json.js';
import type { Verdict } from '../protocol/resolutions.js';
import { isAccepted } from '../protocol/resolutions.js';
import type { ModelCallDetails } from '../protocol/spending.js';
import type { PlannedCall } from '../protocol/tools.js';
import { apply } from './apply.js';
import { setAsideEvents } from './busy.js';
import { droppedAtRollOver } from './context/roll-over.js';
import { type Spilled, withStored } from './context/stored.js';
import { summarizedEvents } from './context/summaries.js';
import { turnTooLong, turnTooLongText } from './context/visible.js';
import { decide, decideCall } from './decide.js';
import { editCheckedEvents } from './edits.js';
import type { ExternalEffect } from './effects.js';
import { isInternal } from './effects.js';
import { cancelEvents, closeEvents } from './endings.js';
import { inboxTurnEvent } from './inbox.js';
import { plainInput } from './input.js';
import type { Refusal } from './judge.js';
import { judgeMessage, judgeResolution } from './judge.js';
import { judgeCancel } from './judge-cancel.js';
import { rememberedMessage } from './memory.js';
import { INTERRUPTED, messageEvent } from './message-events.js';
import { type ModelCallEnd, modelEndedEvents, modelFailedEvents } from './model-outcomes.js';
import * as outcomes from './outcomes.js';
import { preflightEvents } from './preflight.js';
import { messageRefusedEvent, resolutionRefusedEvent } from './refusals.js';
import { isSince } from './revision.js';
import { reconciledEvents } from './server-calls.js';
import { type CallState, type ConversationState, isoOf, type TurnState } from './state.js';
import { answerCheckedEvents, expiryEvents, resolutionEvents } from './wait-ends.js';

export type MessageOutcome =
  | { readonly accepted: true; readonly reply: SendMessageReply }
  | { readonly accepted: false; readonly refusal: Refusal };

type StepOf = Pick<TurnState, 'turnId' | 'step'>;

export interface MachineOptions {
  readonly state: ConversationState;
  /** Milliseconds since the epoch; workflow time or a virtual clock. */
  readonly now: () => number;
  readonly onEvent: (event: CanonicalEvent) => void;
  /**
   * A token for each new turn's id, other after every reset of the workflow: the ordinals of turns begin again there, and
   * whoever waits for the new turn must not be given the end of the old one. Absent where nothing is ever reset.
   */
  readonly turnToken?: () => string;
}

export class ConversationMachine {
  #state: ConversationState;
  readonly #now: () => number;
  readonly #onEvent: (event: CanonicalEvent) => void;
  readonly #turnToken: (() => string) | undefined;

  constructor(options: MachineOptions) {
    this.#state = options.state;
    this.#now = options.now;
    this.#onEvent = options.onEvent;
    this.#turnToken = options.turnToken;
  }

  get state(): ConversationState {
    return this.#state;
  }

  get nowMs(): number {
    return this.#now();
  }

  /** Commits what core has decided elsewhere, and all that follows from it. Returns the `seq` of the first event. */
  record(bodies: readonly EventBody[]): number {
    const seq = this.#state.lastSeq + 1;
    this.#commit(bodies);
    this.#settle();
    return seq;
  }

  /** What the driver should have under way now; asks again after every input. */
  effects(): readonly ExternalEffect[] {
    return decide(this.#state).filter((effect): effect is ExternalEffect => !isInternal(effect));
  }

  refuseMessage(input: unknown): Refusal | undefined {
    return judgeMessage(this.#state, input);
  }

  sendMessage(input: unknown): MessageOutcome {
    const plain = plainInput(input);
    const refusal = this.refuseMessage(plain);
    if (refusal !== undefined) return { accepted: false, refusal };
    const seq = this.#state.lastSeq + 1;
    const message = messageEvent(this.#state, plain, this.#turnToken);
    const { turn } = this.#state;
    this.#commit([message]);
    if (message.onBusy === 'interrupt' && turn !== undefined && turn.cancel === undefined)
      this.#commit(
        cancelEvents(this.#state, {
          turnId: turn.turnId,
          actor: message.actor,
          reason: INTERRUPTED,
        }),
      );
    if (message.onBusy === 'steer') this.#setQuestionsAside();
    const reply = rememberedMessage(this.#state, message.requestId)?.reply;
    this.#settle();
    const { turnId, messageId } = message;
    return { accepted: true, reply: reply ?? { turnId, messageId, seq, ahead: 0 } };
  }

  /** One after the other: each takes up room. */
  #setQuestionsAside(): void {
    for (;;) {
      const events = setAsideEvents(this.#state);
      if (events.length === 0) return;
      this.#commit(events);
    }
  }

  /** A message that came as a signal: nobody can be told, so a refusal is written to the log; a duplicate is dropped. */
  sendMessageBySignal(input: unknown): void {
    const plain = plainInput(input);
    const outcome = this.sendMessage(plain);
    if (outcome.accepted || outcome.refusal.code === 'duplicate' || this.#state.closed) return;
    this.#commit([messageRefusedEvent(plain, outcome.refusal.code)]);
  }

  judgeResolution(input: unknown): Verdict | undefined {
    const judged = judgeResolution(this.#state, input, this.#now());
    return judged.verdict === 'acceptable' ? undefined : judged;
  }

  resolve(input: unknown): Verdict {
    const judged = judgeResolution(this.#state, input, this.#now());
    if (judged.verdict !== 'acceptable') return judged;
    const { verdict: _ok, call: before, suspension, ...accepted } = judged;
    const { toolCallId } = before.plan;
    if (accepted.late === true) this.deadlinePassed(toolCallId);
    const call = this.#state.calls[toolCallId] ?? before;
    const { kind } = suspension;
    const seq = this.record(resolutionEvents(this.#state, call, { kind, ...accepted }));
    return { verdict: accepted.late === true ? 'accepted_late' : 'accepted', toolCallId, seq };
  }

  /**
   * A resolution that came as a signal: nobody can be told, so a refusal is written to the log; a duplicate is dropped.
   * A late one finds its call expired first, whatever the order in which the platform delivers timers.
   */
  resolveBySignal(input: unknown): Verdict {
    const plain = plainInput(input);
    const verdict = this.resolve(plain);
    if (isAccepted(verdict) || verdict.verdict === 'duplicate') return verdict;
    const refused = resolutionRefusedEvent(plain, verdict);
    if (verdict.verdict === 'expired') this.deadlinePassed(refused.toolCallId);
    this.#commit([refused]);
    return verdict;
  }

  cancelTurn(input: unknown): CancelTurnReply {
    const judged = judgeCancel(this.#state, input);
    if ('reply' in judged) return judged.reply;
    const seq = this.#state.lastSeq + 1;
    this.#commit(cancelEvents(this.#state, judged.cancel));
    this.#settle();
    return { cancelled: true, turnId: judged.cancel.turnId, seq };
  }

  /** The turn has run for as long as it may. Safe to repeat, and when the turn has ended meanwhile. */
  turnTimePassed(turnId: string): void {
    const { turn } = this.#state;
    if (turn?.turnId !== turnId || turn.stop !== undefined) return;
    if (turn.cancel !== undefined && isSince(this.#state, 1)) return;
    this.#commit([{ type: 'turn_limit_reached', turnId, limit: 'time_budget' }]);
    this.#settle();
  }

  close(
    reason: 'requested' | 'idle' | 'workflow_cancelled',
    input?: unknown,
  ): CloseConversationReply {
    if (!this.#state.closed) {
      const fields = plainInput(input);
      const actor = isRecord(fields) ? actorFrom(fields['actor']) : SYSTEM_ACTOR;
      this.#commit(closeEvents(this.#state, { reason, actor }));
    }
    return { closed: true, seq: this.#state.lastSeq };
  }

  /** Outcome of `call_model`. One that no longer belongs to the state (the turn has ended) is dropped. */
  modelCompleted(at: StepOf, outcome: CallModelResult): void {
    this.#modelEnded(at, { outcome });
  }

  /** Outcome of `abort_model` when no model call was under way, or it left nothing but what it took. */
  modelAborted(at: StepOf, left?: ModelCallDetails): void {
    this.#modelEnded(at, { left });
  }

  /** `left` is what became of its attempts. */
  modelFailed(at: StepOf, error: TurnError, left?: ModelCallDetails): void {
    this.#modelEnded(at, { error, left });
  }

  #modelEnded(at: StepOf, end: ModelCallEnd): void {
    const events = modelEndedEvents(this.#state, at, end);
    if (events.length === 0) return;
    this.#commit(events);
    this.#settle();
  }

  /** Outcome of `summarize`. False when it was of no use: it covers what is not there, or not old. */
  summarized(ordinal: number, made: SummarizeResult): boolean {
    const events = this.#state.closed ? [] : summarizedEvents(this.#state, ordinal, made);
    this.#commit(events);
    this.#settle();
    return events.length > 0;
  }

  /** Outcome of `plan_call`. */
  callPlanned(callId: string, plan: PlannedCall): void {
    this.#forOpenCall(callId, (call) => outcomes.plannedEvents(this.#state, call, plan));
  }

  /** No worker could plan it: it does not run. */
  callNotPlanned(callId: string, loss: outcomes.Loss): void {
    this.#forOpenCall(callId, (call) => outcomes.notPlannedEvents(call, loss));
  }

  toolFinished(callId: string, outcome: RunToolResult): void {
    this.#forOpenCall(callId, (call) =>
      wants(call, 'run_tool') ? outcomes.toolFinishedEvents(call, outcome) : [],
    );
  }

  toolLost(callId: string, loss: outcomes.Loss): void {
    this.#forOpenCall(callId, (call) =>
      wants(call, 'run_tool') ? outcomes.toolLostEvents(call, loss) : [],
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

  /** Outcome of `check_answer`; ignored unless it is about the answer that the call has now. */
  answerChecked(at: { toolCallId: string; requestId: string }, outcome: CheckAnswerResult): void {
    const { toolCallId, requestId } = at;
    const before = this.#state.calls[toolCallId];
    if (before?.answer?.requestId !== requestId) return;
    this.#forOpenCall(toolCallId, (call) => answerCheckedEvents(call, outcome));
  }

  /** Outcome of `check_edit`; ignored unless it is about the edit that the call has now. */
  editChecked(at: { toolCallId: string; requestId: string }, outcome: CheckEditResult): void {
    const { toolCallId, requestId } = at;
    this.#forOpenCall(toolCallId, (call) =>
      call.edit?.requestId === requestId ? editCheckedEvents(this.#state, call, outcome) : [],
    );
  }

  /** The timer of a suspension fired. Safe to repeat, and when the suspension has been resolved meanwhile. */
  deadlinePassed(callId: string, deadline?: string): void {
    this.#forOpenCall(callId, (call) => {
      const { suspension } = call;
      if (suspension === undefined) return [];
      return deadline === undefined || suspension.deadline === deadline ? expiryEvents(call) : [];
    });
  }

  /** The bodies of these messages lie in the blob store. No event: what the conversation has said is the same. */
  stored(spilled: Spilled): void {
    this.#state = withStored(this.#state, spilled);
  }

  rolledOver(reason: RollOverReason): void {
    this.#commit([
      { type: 'rolled_over', reason, droppedMessages: droppedAtRollOver(this.#state) },
    ]);
  }

  #forOpenCall(callId: string, events: (call: CallState) => readonly EventBody[]): void {
    const call = Object.hasOwn(this.#state.calls, callId) ? this.#state.calls[callId] : undefined;
    if (call === undefined || (call.result !== undefined && call.aside !== 'late')) return;
    this.#commit(events(call));
    this.#settle();
  }

  #commit(bodies: readonly EventBody[]): void {
    const at = isoOf(this.#now());
    for (const body of bodies) {
      const event: CanonicalEvent = { ...body, seq: this.#state.lastSeq + 1, at };
      this.#state = apply(this.#state, event);
      this.#onEvent(event);
    }
  }

  /** Carries out internal decisions until only orders to the outside are left. */
  #settle(): void {
    for (;;) {
      if (this.#turnOutgrown()) continue;
      const due = decide(this.#state).filter(isInternal);
      if (due.length === 0) return;
      // They concern different calls, so none makes another void; asking again after each would be quadratic.
      for (const effect of due)
        this.#commit(
          effect.type === 'start_inbox_turn'
            ? inboxTurnEvent(this.#state, this.#turnToken)
            : outcomes.internalEvents(this.#state, effect, this.#now()),
        );
    }
  }

  /** A turn whose own messages exceed one model call's input cannot go on; the next turn can. */
  #turnOutgrown(): boolean {
    const { turn } = this.#state;
    const isStopping = turn?.cancel !== undefined || turn?.stop !== undefined;
    if (turn?.phase !== 'model' || isStopping || !turnTooLong(this.#state)) return false;
    const message = turnTooLongText(this.#state);
    const error = { code: 'model_context_too_long', message };
    this.#commit(modelFailedEvents(this.#state, turn, { error }));
    return true;
  }
}

/** True when such work may be under way: an outcome of anything else is not this call's. */
function wants(call: CallState, type: ExternalEffect['type']): boolean {
  return decideCall(call).some((effect) => effect.type === type);
}

/** The first event of a conversation, or of its re-opening. */
export function startedState(
  before: ConversationState | undefined,
  event: Extract<CanonicalEvent, { type: 'conversation_started' }>,
): ConversationState {
  return apply(before, event);
}
