/** Reads a log as the script of a test: the model's answers, the inputs, the results of tools, and the outcome. Pure. */
import { INTERRUPTED } from '../../core/events/turns.js';
import { foldView } from '../../core/view/view.js';
import { isRunByWorker } from '../../protocol/calls/executors.js';
import type { ToolResult } from '../../protocol/calls/results.js';
import type { Suspension } from '../../protocol/calls/suspensions.js';
import type { ConversationSnapshot } from '../../protocol/conversation/conversation.js';
import { textOf } from '../../protocol/conversation/messages.js';
import type { CanonicalEvent, EventType } from '../../protocol/log/events.js';
import type { StampedActor } from '../../protocol/values/actors.js';
import { isRecord, type Json } from '../../protocol/values/json.js';

/** The log has something that a test cannot play again. */
export class NotExportable extends Error {
  readonly code = 'invalid_request';
  readonly seq: number;

  constructor(seq: number, why: string) {
    super(`The conversation cannot be exported as a test: event ${seq} ${why}`);
    this.name = 'NotExportable';
    this.seq = seq;
  }
}

/** One input, and the calls that wait before it: `<call> <kind>`, sorted. */
export interface RecordedInput {
  readonly waiting: readonly string[];
  readonly does:
    | { readonly type: 'send'; readonly text: string; readonly options: Json }
    | { readonly type: 'resolve'; readonly callId: string; readonly by: readonly Json[] }
    | { readonly type: 'event'; readonly event: Json }
    | { readonly type: 'advance'; readonly milliseconds: number }
    | { readonly type: 'cancel' | 'close' };
}

export interface Recording {
  readonly agent: string;
  /** ISO 8601 */
  readonly startAt: string;
  /** As `script` of the test kit takes them. */
  readonly answers: readonly Json[];
  readonly inputs: readonly RecordedInput[];
  /** By call; the test kit gives them in place of the runs of the tools. */
  readonly results: Readonly<Record<string, Json>>;
  readonly calls: readonly Json[];
  readonly turns: readonly Json[];
  /** The calls that wait at the end. */
  readonly waiting: readonly string[];
}

const UNPLAYABLE: Partial<Readonly<Record<EventType, string>>> = {
  agent_changed: 'passes the conversation on to another agent',
  child_changed: 'is of a sub-agent',
  definition_changed: 'is of a deploy',
  events_lost: 'stands for events that were lost',
  input_migrated: 'is of a deploy',
  run_ended: 'is the end of a run from outside',
  summary: 'is a summary',
  suspension_changed: 'is of a deploy',
  tool_asked: 'is a question of a tool',
  tool_lost: 'is the loss of a run',
  turn_limit_reached: 'is a limit that was reached at work',
};

const NOW = { unclaimed: 0, last: 0 };

/** @throws {NotExportable} naming the event that a test cannot play again */
export function recordingOf(events: readonly CanonicalEvent[]): Recording {
  const recorder = new Recorder();
  for (const event of events) recorder.take(event);
  return recorder.end();
}

class Recorder {
  #view: ConversationSnapshot | undefined;
  #agent = '';
  #startAt = '';
  #last: CanonicalEvent | undefined;
  #nowMs = 0;
  readonly #ids = new Map<string, string>();
  readonly #byWorker = new Set<string>();
  /** Detached calls that ran while the model was called: the test kit ends them before that. */
  readonly #besideModel = new Set<string>();
  /** Calls whose accepted answer or edit a worker is checking. */
  readonly #checked = new Set<string>();
  readonly #ends = new Map<string, ToolResult>();
  /** Ends of waits by the clock of the test, in milliseconds: without a claim, and in any case. */
  readonly #waitEnds = new Map<string, { readonly unclaimed: number; readonly last: number }>();
  readonly #answers: Json[] = [];
  readonly #inputs: RecordedInput[] = [];
  readonly #results: Record<string, Json> = {};
  readonly #turns: Json[] = [];

  take(event: CanonicalEvent): void {
    if (event.type === 'log_rewritten') return;
    const why = UNPLAYABLE[event.type];
    if (why !== undefined) throw new NotExportable(event.seq, why);
    const does = this.#inputOf(event);
    if (does !== undefined) {
      if (this.#isAtWork()) throw new NotExportable(event.seq, 'came during work');
      this.#inputs.push({ waiting: this.#waiting(), does });
    }
    this.#note(event);
    this.#view = foldView(this.#view, event);
    this.#last = event;
  }

  /** Whether a tool runs, or something else than a wait keeps the turn busy. */
  #isAtWork(): boolean {
    if (this.#checked.size > 0 || (this.#view?.inFlightTools ?? []).length > 0) return true;
    return this.#isModelCalled();
  }

  /**
   * Whether another wait, which goes on in the log, has ended by then in the test: its clock stands still between the
   * beginnings of waits.
   */
  #endsTooSoon({ toolCallId, deadline, unclaimed }: Extract<CanonicalEvent, { type: 'expired' }>) {
    const endOf = (callId: string, isUnclaimed: boolean): number => {
      const { unclaimed: first, last } = this.#waitEnds.get(callId) ?? NOW;
      return isUnclaimed ? first : last;
    };
    const end = endOf(toolCallId, unclaimed === true);
    return (this.#view?.pending ?? []).some(
      (other) =>
        other.toolCallId !== toolCallId &&
        endOf(other.toolCallId, other.claimBy !== undefined) <= end &&
        Date.parse(other.claimBy ?? other.deadline) > Date.parse(deadline),
    );
  }

  #isModelCalled(): boolean {
    const { turn, pending = [], inFlightTools = [] } = this.#view ?? {};
    const isDetached = ({ detached }: { readonly detached?: true }): boolean => detached === true;
    return turn !== undefined && pending.every(isDetached) && inFlightTools.every(isDetached);
  }

  #waiting(): readonly string[] {
    const pending = this.#view?.pending ?? [];
    return pending.map(({ toolCallId, kind }) => `${this.#idOf(toolCallId)} ${kind}`).toSorted();
  }

  #idOf(toolCallId: string): string {
    const known = this.#ids.get(toolCallId) ?? `call_${this.#ids.size + 1}`;
    this.#ids.set(toolCallId, known);
    return known;
  }

  #inputOf(event: CanonicalEvent): RecordedInput['does'] | undefined {
    switch (event.type) {
      case 'user_message': {
        const [part, ...others] = event.parts;
        if (part?.type !== 'text' || others.length > 0)
          throw new NotExportable(event.seq, 'has attachments');
        const { actor, onBusy, output } = event;
        const options = {
          actor: actorOf(actor),
          ...(onBusy === undefined ? {} : { onBusy }),
          ...(output === undefined ? {} : { output: output as Json }),
        };
        return { type: 'send', text: part.text, options };
      }
      case 'resolution': {
        if (event.rule !== undefined) return undefined;
        const by = [event.resolution as unknown as Json, { actor: actorOf(event.actor) }];
        return { type: 'resolve', callId: this.#idOf(event.toolCallId), by };
      }
      case 'inbox_event': {
        if (event.toolCallId !== undefined) return undefined;
        const { eventId, kind, payload = null } = event;
        return { type: 'event', event: { eventId, kind, payload } };
      }
      case 'expired': {
        const { unclaimed, last } = this.#waitEnds.get(event.toolCallId) ?? NOW;
        if (this.#endsTooSoon(event))
          throw new NotExportable(
            event.seq,
            'ends a wait before another, as the clock of a test cannot',
          );
        const milliseconds = (event.unclaimed === true ? unclaimed : last) - this.#nowMs;
        this.#nowMs += Math.max(0, milliseconds);
        return milliseconds > 0 ? { type: 'advance', milliseconds } : undefined;
      }
      case 'cancel_requested':
        if (this.#isInterruption(event)) return undefined;
        if (event.turnId === this.#view?.turn?.turnId) return { type: 'cancel' };
        throw new NotExportable(event.seq, 'cancels a turn that has not begun');
      case 'conversation_closed':
        if (event.reason === 'requested') return { type: 'close' };
        throw new NotExportable(event.seq, `closes the conversation (${event.reason})`);
      default:
        return undefined;
    }
  }

  /** Whether the call runs while the model is called, whose answer may not know the result. */
  #ranBesideModel(toolCallId: string): boolean {
    return this.#byWorker.has(toolCallId) && this.#isModelCalled();
  }

  /** Whether the message before it cancels the turn. */
  #isInterruption({ reason, requestId }: Extract<CanonicalEvent, { type: 'cancel_requested' }>) {
    return reason === INTERRUPTED && requestId === undefined && this.#last?.type === 'user_message';
  }

  #note(event: CanonicalEvent): void {
    if (event.type === 'resolution' && event.checked === false) this.#checked.add(event.toolCallId);
    else if ('toolCallId' in event) this.#checked.delete(event.toolCallId);
    switch (event.type) {
      case 'conversation_started':
        if (this.#agent !== '') throw new NotExportable(event.seq, 'opens the conversation again');
        this.#agent = event.agent;
        this.#startAt = event.at;
        return;
      case 'assistant_message':
        this.#answer(event);
        return;
      case 'tool_call':
        if (event.executed === true) throw new NotExportable(event.seq, 'is run by the provider');
        this.#idOf(event.call.toolCallId);
        if (isRunByWorker(event.call.executor)) this.#byWorker.add(event.call.toolCallId);
        return;
      case 'suspension': {
        this.#waits(event.suspension);
        return;
      }
      case 'tool_result':
        this.#ended(event.toolCallId, event.result);
        return;
      case 'inbox_event':
        if (event.toolCallId === undefined || event.result === undefined) return;
        if (this.#besideModel.has(event.toolCallId) || this.#ranBesideModel(event.toolCallId))
          throw new NotExportable(event.seq, 'ends a detached call that ran beside the model');
        this.#ended(event.toolCallId, event.result);
        return;
      case 'turn_ended': {
        const { status, text, reason, error } = event;
        if (reason === 'model_failed' && error !== undefined)
          this.#answers.push({ type: 'failure', code: error.code, retryable: false });
        this.#turns.push({ status, text });
        return;
      }
      default:
    }
  }

  /**
   * A wait that goes on after a refused answer has its old deadline, up to which the clock of the log went on during the
   * check, and that of the test stood still.
   */
  #waits({ toolCallId, openedAt, deadline, claimBy, reverted }: Suspension): void {
    const endOf = (end: string): number => this.#nowMs + Date.parse(end) - Date.parse(openedAt);
    const before = reverted === undefined ? undefined : this.#waitEnds.get(toolCallId);
    const last = before?.last ?? endOf(deadline);
    const unclaimed = claimBy === undefined ? last : Math.min(last, endOf(claimBy));
    this.#waitEnds.set(toolCallId, { unclaimed, last });
  }

  #answer(event: Extract<CanonicalEvent, { type: 'assistant_message' }>): void {
    const { parts, synthetic, partial, seq } = event;
    if (synthetic === true) return;
    for (const { toolCallId } of this.#view?.inFlightTools ?? []) this.#besideModel.add(toolCallId);
    if (partial === true) throw new NotExportable(seq, 'is an answer that was cut off');
    if (parts.some(({ type }) => type === 'provider_item'))
      throw new NotExportable(seq, 'has items that only the provider understands');
    const text = textOf(parts);
    const calls = parts.flatMap((part): readonly Json[] => {
      if (part.type !== 'tool_call') return [];
      const input = parsed(part.argumentsJson);
      if (input === undefined) throw new NotExportable(seq, 'has arguments that are not JSON');
      return [{ name: part.name, input, id: this.#idOf(part.toolCallId) }];
    });
    this.#answers.push({
      type: 'answer',
      ...(text === '' ? {} : { text }),
      ...(calls.length === 0 ? {} : { calls }),
    });
  }

  #ended(toolCallId: string, result: ToolResult): void {
    this.#ends.set(toolCallId, result);
    const ran = result.status === 'resolved' || result.status === 'errored';
    if (!ran || !this.#byWorker.has(toolCallId)) return;
    const { notice: _ofEngine, ...envelope } = result.envelope;
    const patches = result.patches === undefined ? {} : { patches: result.patches };
    this.#results[this.#idOf(toolCallId)] = { envelope, ...patches } as unknown as Json;
  }

  end(): Recording {
    if (this.#isAtWork())
      throw new NotExportable(
        this.#last?.seq ?? 0,
        'leaves work under way: export it once it waits',
      );
    const calls = [...this.#ids].map(([recorded, id]): Json => {
      const end = this.#ends.get(recorded);
      if (end === undefined) return { id, status: 'open' };
      return { id, status: end.status, result: this.#renamed(end.envelope as unknown as Json) };
    });
    return {
      ...{ agent: this.#agent, startAt: this.#startAt, answers: this.#answers },
      ...{ inputs: this.#inputs, results: this.#results, calls, turns: this.#turns },
      waiting: this.#waiting(),
    };
  }

  /** The result of a detached call names the call. */
  #renamed(value: Json): Json {
    if (typeof value === 'string') return this.#ids.get(value) ?? value;
    if (Array.isArray(value)) return value.map((entry: Json) => this.#renamed(entry));
    if (!isRecord(value)) return value;
    const entries = Object.entries(value as Readonly<Record<string, Json>>);
    return Object.fromEntries(entries.map(([name, entry]) => [name, this.#renamed(entry)]));
  }
}

/** The test kit stamps the rest. */
function actorOf({ id, name, roles }: StampedActor): Json {
  return {
    id,
    ...(name === undefined ? {} : { name }),
    ...(roles === undefined ? {} : { roles: [...roles] }),
  };
}

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}
