/** Reads a turn from a log, as a what-if plays it again: what its first model call read, and its steps. Pure. */
import type { ContextMark } from '../../protocol/conversation/context.js';
import type {
  AssistantPart,
  Message,
  ToolMessage,
  UserMessage,
} from '../../protocol/conversation/messages.js';
import type { Usage } from '../../protocol/conversation/turns.js';
import type { CanonicalEvent } from '../../protocol/log/events.js';
import type { TurnId } from '../../protocol/values/ids.js';
import type { JsonSchema } from '../../protocol/values/json.js';
import { apply } from '../apply/apply.js';
import { markOf } from '../context/carry-over.js';
import type { ConversationState } from '../state/state.js';
import { isOffloaded, wholeMessages } from '../state/transcript.js';
import { takenBy } from '../state/usage.js';

export interface RecordedTurn {
  readonly turnId: TurnId;
  /** The agent of its first model call. */
  readonly agent: string;
  /** Start of the conversation, ISO 8601. */
  readonly startedAt: string;
  /** Form of its final answer, as its message sets it. Absent: as the agent's definition does. */
  readonly output?: JsonSchema | false;
  /** Context of its first model call, so that the same messages are left out. Absent: the log has none. */
  readonly context?: ContextMark;
  /** The messages that its first model call read. */
  readonly before: readonly Message[];
  /** The model's answers, oldest first. */
  readonly steps: readonly RecordedStep[];
  /** Tools of its calls that end the turn, by the id of the call. */
  readonly endingCalls: ReadonlySet<string>;
  /** False: messages before it were lost with their events. */
  readonly isWhole: boolean;
  /** A call has passed the conversation on to another agent. */
  readonly isHandedOver: boolean;
  /** The last event that was read. */
  readonly lastSeq: number;
}

export interface RecordedStep {
  readonly parts: readonly AssistantPart[];
  /** Results of its calls; absent while not all of them have ended, and where it has none. */
  readonly results?: ToolMessage;
  /** Its results have ended the turn: a tool of it does so. */
  readonly hasEndedTurn?: boolean;
  /** Messages that the next model call read behind them. */
  readonly added: readonly UserMessage[];
  /** Absent in logs that lack the event of the model call. */
  readonly called?: { readonly model: string; readonly usage: Usage };
}

export interface TurnWanted {
  /** Absent: the newest turn in which a model has answered. */
  readonly turnId?: TurnId | undefined;
  /** Absent: the end of the log. */
  readonly throughSeq?: number | undefined;
}

/**
 * Undefined when no model has answered in the turn. Messages that a roll-over has stored elsewhere are read from their
 * events.
 * @param events the log, from its first event
 */
export async function recordedTurnOf(
  events: AsyncIterable<CanonicalEvent>,
  { turnId, throughSeq = Infinity }: TurnWanted,
): Promise<RecordedTurn | undefined> {
  const recorder = new Recorder(turnId);
  for await (const event of events) {
    if (event.seq > throughSeq) break;
    recorder.take(event);
  }
  return recorder.turn();
}

interface Step {
  readonly parts: readonly AssistantPart[];
  readonly step: number;
  results?: ToolMessage;
  hasEndedTurn?: boolean;
  readonly added: UserMessage[];
}

class Recorder {
  readonly #wanted: TurnId | undefined;
  #state: ConversationState | undefined;
  #begun: Omit<RecordedTurn, 'steps' | 'isHandedOver' | 'lastSeq' | 'endingCalls'> | undefined;
  #steps: Step[] = [];
  #isHandedOver = false;
  readonly #endingCalls = new Set<string>();
  /** Ids of messages that are taken already. */
  #seen = new Set<string>();
  readonly #called = new Map<string, RecordedStep['called']>();

  constructor(wanted: TurnId | undefined) {
    this.#wanted = wanted;
  }

  take(event: CanonicalEvent): void {
    // Without these events the transcript has the messages themselves.
    if (event.type === 'log_rewritten' || event.type === 'transcript_offloaded') return;
    if (event.type === 'model_call')
      this.#called.set(`${event.turnId}.${event.step}`, {
        model: event.model,
        usage: takenBy(event),
      });
    if (event.type === 'tool_call' && event.call.endsTurn === true)
      this.#endingCalls.add(event.call.toolCallId);
    if (event.type === 'assistant_message' && event.synthetic !== true) this.#begin(event.turnId);
    if (event.type === 'agent_changed' && event.turnId === this.#begun?.turnId)
      this.#isHandedOver = true;
    this.#state = apply(this.#state, event);
    this.#collect();
  }

  turn(): RecordedTurn | undefined {
    const { lastSeq } = this.#state ?? {};
    if (this.#begun === undefined || lastSeq === undefined) return undefined;
    const { turnId } = this.#begun;
    const steps = this.#steps.map(({ step, ...rest }): RecordedStep => {
      const called = this.#called.get(`${turnId}.${step}`);
      return { ...rest, ...(called === undefined ? {} : { called }) };
    });
    const endingCalls = this.#endingCalls;
    return { ...this.#begun, steps, endingCalls, isHandedOver: this.#isHandedOver, lastSeq };
  }

  #begin(turnId: TurnId): void {
    const state = this.#state;
    if (state === undefined || turnId === this.#begun?.turnId) return;
    if (this.#wanted !== undefined && turnId !== this.#wanted) return;
    const output = state.turn?.outputSchema;
    const before = wholeMessages(state.transcript);
    this.#begun = {
      ...{ turnId, agent: state.agent, startedAt: state.startedAt, before },
      isWhole: !state.transcript.some(isOffloaded),
      ...(output === undefined ? {} : { output }),
      ...markOf(state),
    };
    this.#steps = [];
    this.#isHandedOver = false;
    this.#seen = new Set(before.map(({ id }) => id));
  }

  /** Takes the messages at the end of the transcript that are new. */
  #collect(): void {
    if (this.#begun === undefined) return;
    const { transcript = [] } = this.#state ?? {};
    const at = transcript.findLastIndex(({ id }) => this.#seen.has(id));
    for (const message of wholeMessages(transcript.slice(at + 1))) {
      this.#seen.add(message.id);
      if (message.turnId === this.#begun.turnId) this.#add(message);
    }
  }

  #add(message: Message): void {
    const last = this.#steps.at(-1);
    if (message.role === 'user') last?.added.push(message);
    else if (message.role === 'tool') {
      const of = this.#steps.find(({ step }) => step === message.step);
      if (of === undefined) return;
      // Large results of a step are in several messages.
      const parts = [...(of.results?.parts ?? []), ...message.parts];
      of.results = { ...message, parts };
      of.hasEndedTurn = this.#state?.turn?.phase === 'ending';
    } else if (message.synthetic !== true)
      this.#steps.push({ parts: message.parts, step: message.step, added: [] });
  }
}
