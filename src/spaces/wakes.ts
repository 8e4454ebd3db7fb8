/**
 * Wakes the agents of spaces for texts that others have written. Texts are due from the transaction that stores them,
 * so a process that dies loses none; each is an event of the agent's inbox under an id of its own, so a repeat is one
 * event. Any number of processes may run this: an agent is woken by the one that has claimed it, in the order of the
 * space.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { ConversationError } from '../client/api/errors.js';
import { Outages, type ProjectionLogger, SILENT } from '../projection/source/outages.js';
import { Passes } from '../projection/source/passes.js';
import type { SpaceMessage } from '../protocol/spaces/spaces.js';
import type { ClaimedWake, SpaceStore } from '../store/ports/spaces/spaces.js';

/**
 * Wakes an agent for a text; resolves when the text cannot be lost any more. Safe to repeat. `hops`: texts of agents since
 * the last of a person, this one included.
 */
export type DeliverText = (agent: ClaimedWake, text: SpaceMessage, hops?: number) => Promise<void>;

export interface SpaceWakerDeps {
  readonly store: Pick<SpaceStore, 'claimWakes' | 'isMember' | 'settleWake' | 'textsFor'>;
  readonly deliver: DeliverText;
  /** @defaultValue no log */
  readonly logger?: ProjectionLogger | undefined;
  /** Milliseconds between two looks. @defaultValue 500 */
  readonly intervalMs?: number | undefined;
  /** Clock and dice of tests. */
  readonly now?: () => number;
  readonly random?: () => number;
}

const INTERVAL_MS = 500;
const AGENTS_AT_ONCE = 16;
const TEXTS_AT_ONCE = 20;
/** Milliseconds of one turn of an agent, after which another one gets the turn; a delivery takes seconds at most. */
const TURN_MS = 5_000;
/**
 * Longer than a turn with its last delivery; so long the texts of an agent wait when the process dies that delivers
 * them. Where the clocks of machines differ by more, two processes deliver the same texts, which enter the inbox once.
 */
const LEASE_MS = 20_000;
const FIRST_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 10 * 60_000;
/** Pauses differ by up to a fifth, so that agents that failed together do not come back together. */
const JITTER = 0.2;

/** The conversation can take no event of this agent any more: its texts stay in the space, for those who read it. */
const FINAL: readonly string[] = ['agent_mismatch', 'conversation_closed', 'invalid_request'];

export class SpaceWaker {
  readonly #deps: SpaceWakerDeps;
  readonly #logger: ProjectionLogger;
  readonly #outages: Outages;
  readonly #passes: Passes;
  readonly #now: () => number;
  readonly #intervalMs: number;

  constructor(deps: SpaceWakerDeps) {
    this.#deps = deps;
    this.#logger = deps.logger ?? SILENT;
    this.#outages = new Outages(this.#logger);
    this.#now = deps.now ?? Date.now;
    this.#intervalMs = deps.intervalMs ?? INTERVAL_MS;
    this.#passes = new Passes({
      pass: () => this.pass(),
      name: 'agents of spaces',
      outages: this.#outages,
      intervalMs: this.#intervalMs,
    });
  }

  /** Begins to wake agents. Does not keep the process alive. */
  start(): void {
    this.#passes.start();
  }

  /** Ends after the texts that are being delivered. Never throws. */
  async stop(): Promise<void> {
    await this.#passes.stop();
  }

  /**
   * Delivers all texts that are due, also those that become due meanwhile; resolves to their number. A slow agent takes
   * one place and holds back no other. @throws {StoreUnavailable} after the texts that are being delivered
   */
  async pass(): Promise<number> {
    const running = new Set<Promise<void>>();
    const failures: unknown[] = [];
    let delivered = 0;
    const begin = (wake: ClaimedWake): void => {
      const work = this.#wake(wake)
        .then((count) => {
          delivered += count;
        })
        .catch((error: unknown) => failures.push(error))
        .then(() => void running.delete(work));
      running.add(work);
    };
    try {
      while (!this.#passes.isStopping && failures.length === 0) {
        const before = running.size;
        const claimed = await this.#claim(AGENTS_AT_ONCE - before);
        const isSlotFree = running.size < before;
        claimed.forEach(begin);
        if (running.size === 0) break;
        if (!isSlotFree) await firstOf(running, this.#intervalMs);
      }
    } finally {
      await Promise.all(running);
    }
    if (failures.length > 0) throw failures[0];
    return delivered;
  }

  async #claim(limit: number): Promise<readonly ClaimedWake[]> {
    if (limit === 0) return [];
    return await this.#deps.store.claimWakes({ limit, nowMs: this.#now(), leaseMs: LEASE_MS });
  }

  /** The number of texts that were delivered. @throws {StoreUnavailable} then the lease ends, and they come again */
  async #wake(wake: ClaimedWake): Promise<number> {
    const { store } = this.#deps;
    const texts = await store.textsFor(wake, { limit: TEXTS_AT_ONCE });
    const endAt = this.#now() + TURN_MS;
    let position = wake.afterPosition;
    let count = 0;
    if (texts.length === 0) {
      // The space is being removed, its messages first: due at once, the agent would be claimed again without end.
      const retryAtMs = this.#retryAt(wake.attempts);
      await store.settleWake(wake, { position, nowMs: this.#now(), retryAtMs });
      return 0;
    }
    try {
      for (const text of texts) {
        if (this.#passes.isStopping || this.#now() > endAt) break;
        // An agent that has left, or whose conversation was deleted, must not begin it again.
        if (!(await store.isMember(wake, { kind: 'agent', id: wake.memberId }))) return count;
        if (await this.#delivered(wake, text)) count += 1;
        position = text.position;
      }
      await store.settleWake(wake, { position, nowMs: this.#now() });
    } catch (error) {
      const name = `${wake.tenant}/${wake.conversationId}`;
      this.#outages.failed(error, name, 'space_agents');
      const retryAtMs = this.#retryAt(position > wake.afterPosition ? 1 : wake.attempts);
      await store.settleWake(wake, { position, nowMs: this.#now(), retryAtMs });
    }
    return count;
  }

  /** False for a text that the conversation will never take. */
  async #delivered(wake: ClaimedWake, text: SpaceMessage): Promise<boolean> {
    try {
      await this.#deps.deliver(wake, text);
      this.#outages.succeeded();
      return true;
    } catch (error) {
      if (!ConversationError.isInstance(error) || !FINAL.includes(error.code)) throw error;
      const { tenant, spaceId, conversationId, agent } = wake;
      this.#logger.warn('An agent of a space cannot be woken for a text', {
        ...{ tenant, spaceId, conversationId, agent, message: text.id, reason: error.message },
      });
      return false;
    }
  }

  #retryAt(attempts: number): number {
    const pauseMs = Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (Math.min(attempts, 20) - 1));
    const random = (this.#deps.random ?? Math.random)();
    return Math.round(this.#now() + pauseMs * (1 - JITTER + 2 * JITTER * random));
  }
}

/** Resolves when one of them has ended, or after a while. Does not keep the process alive. */
async function firstOf(works: ReadonlySet<Promise<void>>, withinMs: number): Promise<void> {
  const over = new AbortController();
  await Promise.race([...works, sleep(withinMs, undefined, { ref: false, signal: over.signal })]);
  over.abort();
}

/** Kind of the events by which agents get texts. */
export const SPACE_EVENT_KIND = 'space.message';

/** The event of the inbox that wakes an agent for a text. Its id makes repeats one event. */
export function spaceEventOf(
  { spaceId }: Pick<ClaimedWake, 'spaceId'>,
  text: SpaceMessage,
  hops?: number,
) {
  const { id, position, author, replyTo, createdAt } = text;
  return {
    eventId: `space:${spaceId}:${id}`,
    kind: SPACE_EVENT_KIND,
    payload: {
      ...{ spaceId, messageId: id, position, author: { ...author }, text: text.text, createdAt },
      ...(replyTo === undefined ? {} : { replyTo }),
      ...(hops === undefined ? {} : { hops }),
    },
  };
}
