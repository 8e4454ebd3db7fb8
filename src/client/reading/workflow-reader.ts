/**
 * Reads without a store: the parts of the reader port that a workflow can answer itself. Needs a worker, returns the
 * events of the present run only, and polls. For scripts and tests; applications read the store.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { ConversationSnapshot, TurnResult } from '../../protocol/conversation/conversation.js';
import { waitingResult } from '../../protocol/conversation/waiting.js';
import { MAX_EVENT_PAGE_BYTES } from '../../protocol/limits/limits.js';
import { QUERY_DEADLINE_MS } from '../../protocol/limits/service-limits.js';
import { type CanonicalEvent, type TurnEnded, turnIdOf } from '../../protocol/log/events.js';
import type { ConversationKey, TurnId } from '../../protocol/values/ids.js';
import { ConversationError } from '../api/errors.js';
import type {
  BeforePosition,
  ConversationPage,
  ConversationReader,
  LogPage,
  ReadPosition,
  WatchFrame,
} from '../ports/reader.js';
import { isUnanswered } from '../temporal/errors.js';
import type { TemporalGateway } from '../temporal/temporal-gateway.js';
import { pauseFor, repeatUntil } from '../temporal/waiting.js';

const FIRST_PAUSE_MS = 250;
const LAST_PAUSE_MS = 2_000;
const MAX_PAGE_EVENTS = 1_000;
/** A workflow does not know of generations: there is one. */
const GENERATION = 1;

/** The result of a turn by the event of its end. */
export function resultOfEnd(event: TurnEnded & { readonly seq: number }): TurnResult {
  const { turnId, text, usage, seq, status, reason, output } = event;
  switch (status) {
    case 'completed':
      return {
        ...{ status, turnId, text, usage, seq },
        ...(output === undefined ? {} : { output }),
        ...(reason === undefined ? {} : { reason }),
      };
    case 'failed': {
      const error = event.error ?? { code: reason ?? 'internal', message: 'The turn failed' };
      return { status, turnId, text, usage, seq, error };
    }
    case 'cancelled':
      return { status, turnId, text, usage, seq };
  }
}

export class WorkflowReader implements ConversationReader {
  readonly #gateway: TemporalGateway;

  constructor(gateway: TemporalGateway) {
    this.#gateway = gateway;
  }

  async snapshot(key: ConversationKey): Promise<ConversationSnapshot | undefined> {
    return await this.#gateway.query(key, 'snapshot');
  }

  async events(
    key: ConversationKey,
    options: ReadPosition & { limit?: number; before?: BeforePosition } = {},
  ): Promise<LogPage | undefined> {
    if (options.before !== undefined) return await this.#before(key, options.before, options.limit);
    const after = options.after?.seq ?? 0;
    const page = await this.#gateway.query(key, 'events', {
      after,
      maxBytes: MAX_EVENT_PAGE_BYTES,
    });
    if (page === undefined) return undefined;
    const events = options.limit === undefined ? page.events : page.events.slice(0, options.limit);
    return {
      generation: GENERATION,
      events,
      cursor: { generation: GENERATION, seq: events.at(-1)?.seq ?? after },
      more: page.more || events.length < page.events.length,
    };
  }

  async turnResult(
    key: ConversationKey,
    turnId: TurnId,
    options: {
      timeoutMs: number;
      signal?: AbortSignal;
      returnWhenWaiting?: boolean;
      atLeastSeq?: number;
    },
  ): Promise<TurnResult | undefined> {
    const state = { seq: 0, seen: false };
    // After a reset the log may never be as long again: then the present state is the answer, a little later.
    const holdUntil = Date.now() + QUERY_DEADLINE_MS;
    const found = await repeatUntil(options, async () => {
      const ended = await this.#scan(key, turnId, state);
      if (ended !== undefined || options.returnWhenWaiting !== true) return ended;
      if (!state.seen) return undefined;
      const waiting = await this.#waiting(key, turnId);
      const isOld = (waiting?.seq ?? 0) < (options.atLeastSeq ?? 0);
      return isOld && Date.now() < holdUntil ? undefined : waiting;
    });
    return found ?? (state.seen ? { status: 'timeout', turnId } : undefined);
  }

  async *watch(
    key: ConversationKey,
    options: ReadPosition & { signal: AbortSignal },
  ): AsyncGenerator<WatchFrame> {
    let seq = options.after?.seq ?? 0;
    for (
      let pause = FIRST_PAUSE_MS;
      !options.signal.aborted;
      pause = Math.min(pause * 2, LAST_PAUSE_MS)
    ) {
      const page = await this.events(key, { after: { generation: GENERATION, seq } });
      for (const event of page?.events ?? []) {
        seq = event.seq;
        yield { type: 'event', cursor: { generation: GENERATION, seq }, event };
      }
      if ((page?.events.length ?? 0) > 0) pause = FIRST_PAUSE_MS;
      if (page?.more !== true) await pauseFor(pause, options.signal);
    }
  }

  /** @throws {ConversationError} store_unavailable always: each workflow knows of itself only. */
  list(): Promise<ConversationPage> {
    const text = 'Listing conversations needs the event log: give the client a reader';
    return Promise.reject(new ConversationError('store_unavailable', text));
  }

  /** Events of the turn in the present run. */
  async turnEvents(key: ConversationKey, turnId: TurnId): Promise<readonly CanonicalEvent[]> {
    const events: CanonicalEvent[] = [];
    for (let seq = 0; ; ) {
      const page = await this.events(key, { after: { generation: GENERATION, seq } });
      if (page === undefined) return events;
      events.push(...page.events.filter((event) => turnIdOf(event) === turnId));
      ({ seq } = page.cursor);
      if (!page.more) return events;
    }
  }

  /** Always undefined: only the store knows which conversation a turn belongs to. */
  findTurn(): Promise<ConversationKey | undefined> {
    return Promise.resolve(undefined);
  }

  /** Reads all events of the run, which returns them oldest first only. */
  async #before(
    key: ConversationKey,
    before: BeforePosition,
    limit = MAX_PAGE_EVENTS,
  ): Promise<LogPage | undefined> {
    const all: CanonicalEvent[] = [];
    for (let seq = 0, more = true; more; ) {
      const page = await this.events(key, { after: { generation: GENERATION, seq } });
      if (page === undefined) return undefined;
      all.push(...page.events);
      ({ more } = page);
      ({ seq } = page.cursor);
    }
    const older = before === 'end' ? all : all.filter((event) => event.seq < before.seq);
    const events = older.slice(-limit).reverse();
    return {
      generation: GENERATION,
      events,
      cursor: { generation: GENERATION, seq: events.at(-1)?.seq ?? 0 },
      more: events.length < older.length,
      ...(before === 'end' ? { tail: { generation: GENERATION, seq: all.at(-1)?.seq ?? 0 } } : {}),
    };
  }

  /** Continues where the last scan stopped. Waits for a worker if none answers. */
  async #scan(
    key: ConversationKey,
    turnId: TurnId,
    state: { seq: number; seen: boolean },
  ): Promise<TurnResult | undefined> {
    for (;;) {
      const page = await this.events(key, {
        after: { generation: GENERATION, seq: state.seq },
      }).catch(unlessAway);
      if (page === undefined) return undefined;
      state.seq = page.cursor.seq;
      for (const event of page.events) {
        if (isOfTurn(event, turnId)) state.seen = true;
        if (event.type === 'turn_ended' && event.turnId === turnId) return resultOfEnd(event);
      }
      if (!page.more) return undefined;
      // A long log is read page by page; other readers' queries get between.
      await sleep(0);
    }
  }

  async #waiting(key: ConversationKey, turnId: TurnId): Promise<ReturnType<typeof waitingResult>> {
    const snapshot = await this.snapshot(key).catch(unlessAway);
    return snapshot === undefined ? undefined : waitingResult(snapshot, turnId);
  }
}

function isOfTurn(event: CanonicalEvent, turnId: TurnId): boolean {
  return 'turnId' in event && event.turnId === turnId;
}

function unlessAway(error: unknown): undefined {
  if (isUnanswered(error)) return undefined;
  throw error;
}
