/**
 * Keeps the events of this run for the `events` query, and sends the hint that notifies the worker's projector of them.
 */
import { proxySinks, type Sinks, workflowInfo } from '@temporalio/workflow';
import { MAX_EVENT_PAGE_BYTES } from '../../protocol/limits/limits.js';
import type { CanonicalEvent, EventType } from '../../protocol/log/events.js';
import { mostUrgent, type Urgency, urgencyOf } from '../../protocol/log/urgency.js';
import { isRecord, utf8Bytes } from '../../protocol/values/json.js';
import type { EventsPage, Hint } from '../../protocol/workflow/messaging.js';
import { HINT_SINK } from '../../protocol/workflow/messaging.js';

interface HintSinks extends Sinks {
  readonly [HINT_SINK]: { hint(hint: Hint): void };
}

const sinks = proxySinks<HintSinks>();

/** Most events that a hint carries. The projector fetches more than these by query, in pages. */
const MAX_PUSHED_EVENTS = 200;

export class EventLogOfRun {
  readonly #tenant: string;
  readonly #conversationId: string;
  readonly #events: CanonicalEvent[];
  #lastSeq: number;
  #hintedSeq: number;
  readonly #replayedFrom: number;
  #liveFrom: number;
  #urgency: Urgency = 'later';
  #isHeld = false;

  constructor(
    key: { readonly tenant: string; readonly conversationId: string },
    carried: readonly CanonicalEvent[],
    lastSeq: number,
  ) {
    this.#tenant = key.tenant;
    this.#conversationId = key.conversationId;
    this.#events = [...carried];
    this.#lastSeq = lastSeq;
    this.#hintedSeq = (carried[0]?.seq ?? lastSeq + 1) - 1;
    this.#replayedFrom = this.#hintedSeq + 1;
    this.#liveFrom = this.#replayedFrom;
  }

  /**
   * Hides the events of this run until `release`, also from queries of the closed run: a run that admits no message
   * leaves nothing in the log.
   */
  hold(): void {
    this.#isHeld = true;
  }

  release(): void {
    this.#isHeld = false;
  }

  get lastSeq(): number {
    return this.#lastSeq;
  }

  /** The newest seq that readers see: none of the events that are held. */
  get shownSeq(): number {
    return this.#isHeld ? this.#hintedSeq : this.#lastSeq;
  }

  /** The newest event of this type in this run. */
  last<Type extends EventType>(type: Type): Extract<CanonicalEvent, { type: Type }> | undefined {
    return this.#events.findLast(
      (event): event is Extract<CanonicalEvent, { type: Type }> => event.type === type,
    );
  }

  append(event: CanonicalEvent): void {
    this.#events.push(event);
    this.#lastSeq = event.seq;
    this.#urgency = mostUrgent(this.#urgency, urgencyOf(event));
  }

  /**
   * Notifies the projector of the new end of the log and of the new events. Costs no history; the projector's sweep
   * repairs lost hints. `isWaiting`: only people can continue the turn, and a client may wait for that.
   * During a replay this instance cannot know whether the tasks were committed, and the worker that decided them may
   * have been lost before it stored their events. So the projector is asked to check, and gets them for it.
   */
  hint({ isWaiting }: { readonly isWaiting: boolean }): void {
    if (this.#hintedSeq === this.#lastSeq) return;
    const { runId, historyLength, unsafe } = workflowInfo();
    const events = this.after(this.#hintedSeq);
    const liveFrom = unsafe.isReplaying ? this.#replayedFrom : this.#liveFrom;
    // The clock of a workflow is the start time of its task.
    const pushed = { task: historyLength, startedAt: Date.now(), liveFrom, events };
    const carried = events.length > MAX_PUSHED_EVENTS ? {} : { pushed };
    if (unsafe.isReplaying) {
      this.#liveFrom = this.#lastSeq + 1;
      this.doubt(carried);
    } else {
      const { [HINT_SINK]: sink } = sinks;
      sink.hint({
        tenant: this.#tenant,
        conversationId: this.#conversationId,
        seq: this.#lastSeq,
        runId,
        urgency: isWaiting ? 'now' : this.#urgency,
        ...carried,
      });
    }
    this.#hintedSeq = this.#lastSeq;
    this.#urgency = 'later';
  }

  /** Has the worker check whether the store has the whole log. Costs no history, and no query when the store has it. */
  doubt(carried: Pick<Hint, 'pushed'> = {}): void {
    if (this.#isHeld) return;
    const { [HINT_SINK]: sink } = sinks;
    sink.hint({
      tenant: this.#tenant,
      conversationId: this.#conversationId,
      seq: this.#lastSeq,
      runId: workflowInfo().runId,
      urgency: 'now',
      doubt: true,
      ...carried,
    });
  }

  /** Events after `seq`: those that the store has not confirmed. */
  after(seq: number): readonly CanonicalEvent[] {
    const firstSeq = this.#events[0]?.seq ?? 0;
    return this.#events.slice(Math.max(0, seq + 1 - firstSeq));
  }

  page(input: unknown): EventsPage {
    if (this.#isHeld) {
      const lastSeq = this.shownSeq;
      return { events: [], lastSeq, firstSeq: lastSeq + 1, more: false };
    }
    const query = isRecord(input) ? input : {};
    const after = typeof query['after'] === 'number' ? query['after'] : 0;
    const wanted = typeof query['maxBytes'] === 'number' ? query['maxBytes'] : MAX_EVENT_PAGE_BYTES;
    const maxBytes = Math.min(wanted, MAX_EVENT_PAGE_BYTES);
    const firstSeq = this.#events[0]?.seq ?? this.#lastSeq + 1;
    const events: CanonicalEvent[] = [];
    let bytes = 0;
    for (let index = Math.max(0, after + 1 - firstSeq); index < this.#events.length; index += 1) {
      const event = this.#events[index];
      if (event === undefined) break;
      bytes += utf8Bytes(JSON.stringify(event));
      if (events.length > 0 && bytes > maxBytes) break;
      events.push(event);
    }
    const last = events.at(-1)?.seq ?? Math.max(after, this.#lastSeq);
    return { events, lastSeq: this.#lastSeq, firstSeq, more: last < this.#lastSeq };
  }
}
