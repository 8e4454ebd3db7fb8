/**
 * Sends what the outbox holds. Any number of senders may run over one store: each delivery is sent by the one that has
 * claimed it, and those of a killed sender are claimed again when its lease ends. So every event arrives at least once,
 * and those of one conversation arrive at one endpoint in their order.
 */

import type { AllowPrivate } from '../net/guarded/addresses.js';
import type { ClaimedDelivery, WebhookStore, WebhookTarget } from '../store/ports/webhooks.js';
import { attempt, type DeliverWebhook, messageOf } from './attempt.js';
import { DELIVER_URL } from './endpoints.js';
import { type Post, Poster } from './post.js';

export interface WebhookSenderOptions {
  readonly store: WebhookStore;
  /** Receives the events of the endpoint `deliver`. @defaultValue they wait for a sender that has it */
  readonly deliver?: DeliverWebhook | undefined;
  /**
   * Addresses of the own network that endpoints may have: `true` for all, or addresses, ranges and host names.
   * @defaultValue none
   */
  readonly allowPrivate?: AllowPrivate | undefined;
  readonly logger?: SenderLogger | undefined;
  /** Milliseconds between looks into the outbox. @defaultValue 1000 */
  readonly intervalMs?: number | undefined;
  /** Milliseconds of one attempt, of the request with its answer or of `deliver`. @defaultValue 15000 */
  readonly timeoutMs?: number | undefined;
  /** Milliseconds for which `stop` waits for running attempts before it ends them. @defaultValue 5000 */
  readonly stopMs?: number | undefined;
  /** Clock, dice and requests of tests. */
  readonly now?: () => number;
  readonly random?: () => number;
  readonly post?: Post;
}

export interface SenderLogger {
  warn(message: string, fields?: Record<string, unknown>): void;
}

export interface WebhookSender {
  /** Begins to send, after `stop` as well. Does not keep the process alive. Safe to repeat. */
  start(): void;
  /**
   * Resolves after the running attempts. Those that take longer than `stopMs` are ended and tried again later, and a
   * store that does not answer is not waited for. Never throws. Safe to repeat.
   */
  stop(): Promise<void>;
  /** Sends all that is due now; resolves to the number of attempts. @throws {StoreUnavailable} */
  pass(): Promise<number>;
}

const INTERVAL_MS = 1_000;
const TIMEOUT_MS = 15_000;
const STOP_MS = 5_000;
/** Clocks of machines differ by less, and the store notes the end of an attempt in less. */
const LEASE_BEYOND_TIMEOUT_MS = 45_000;
const EXPIRING_AT_ONCE = 200;
const ENDPOINTS_AT_ONCE = 32;
/** Requests to one endpoint at a time, each of another conversation. */
const REQUESTS_AT_ONCE = 8;
/** The most endpoints whose last turn a sender remembers. */
const MAX_TURNS = 10_000;
const REPORT_EVERY_MS = 60_000;
const PRUNE_EVERY_MS = 3_600_000;
const PRUNED_AT_ONCE = 1_000;
const KEEP_DELIVERED_MS = 7 * 24 * 3_600_000;
const KEEP_DEAD_MS = 30 * 24 * 3_600_000;
const KEEP_PENDING_MS = 30 * 24 * 3_600_000;

export function createWebhookSender(options: WebhookSenderOptions): WebhookSender {
  let run: Run | undefined;
  let ended: Promise<unknown> = Promise.resolve();
  const current = (): Run => (run ??= new Run(options));
  return {
    start: () => {
      current().start();
    },
    stop: async () => {
      if (run !== undefined) ended = Promise.all([ended, run.stop()]);
      run = undefined;
      await ended;
    },
    pass: async () => await current().pass(),
  };
}

interface Look {
  /** Each resolves to the number of its attempts. */
  readonly turns: readonly Promise<number>[];
  readonly failures: readonly unknown[];
}

/** A sender from its start to its stop. */
class Run {
  readonly #options: WebhookSenderOptions;
  readonly #store: WebhookStore;
  readonly #poster: Poster;
  readonly #now: () => number;
  readonly #timeoutMs: number;
  /** Endpoints that are sent to now. */
  readonly #busy = new Set<string>();
  /** Endpoints in the order of their last turn, longest ago first. */
  readonly #turns = new Set<string>();
  readonly #running = new Set<Promise<unknown>>();
  readonly #stopped = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #looking: 'no' | 'yes' | 'again' = 'no';
  #isStopping = false;
  #prunedAtMs = 0;
  #reportedAtMs = 0;

  constructor(options: WebhookSenderOptions) {
    this.#options = options;
    this.#store = options.store;
    this.#poster = new Poster(options.allowPrivate ?? []);
    this.#now = options.now ?? Date.now;
    this.#timeoutMs = options.timeoutMs ?? TIMEOUT_MS;
  }

  start(): void {
    if (this.#timer !== undefined) return;
    this.#timer = setInterval(() => {
      this.#lookSoon();
    }, this.#options.intervalMs ?? INTERVAL_MS);
    this.#timer.unref();
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#isStopping = true;
    const stopMs = this.#options.stopMs ?? STOP_MS;
    await this.#idle(stopMs);
    this.#stopped.abort();
    await this.#idle(stopMs);
    await this.#poster.close().catch(() => undefined);
  }

  async pass(): Promise<number> {
    for (let sum = 0; ; ) {
      const { turns, failures } = await this.#look();
      const ended = await Promise.allSettled(turns);
      const [failure] = [...failures, ...reasonsOf(ended)];
      if (failure !== undefined) throw failure as Error;
      const sent = ended.reduce((all, it) => all + (it.status === 'fulfilled' ? it.value : 0), 0);
      if (sent === 0) return sum;
      sum += sent;
    }
  }

  /** One look at a time; a look that is asked for meanwhile follows it. */
  #lookSoon(): void {
    if (this.#isStopping) return;
    if (this.#looking !== 'no') {
      this.#looking = 'again';
      return;
    }
    this.#looking = 'yes';
    void this.#track(this.#lookOn());
  }

  async #lookOn(): Promise<void> {
    const { turns, failures } = await this.#look();
    for (const turn of turns)
      turn.then(
        (sent) => {
          if (sent > 0) this.#lookSoon();
        },
        (error: unknown) => {
          this.#report([error]);
        },
      );
    this.#report(failures);
    const isAsked = this.#looking === 'again';
    this.#looking = 'no';
    if (isAsked) this.#lookSoon();
  }

  /**
   * Begins the turns of endpoints that have due deliveries: the endpoint whose last turn is the longest ago comes first.
   * Never throws.
   */
  async #look(): Promise<Look> {
    const nowMs = this.#now();
    const duties = await Promise.allSettled([this.#prune(nowMs), this.#announce(nowMs)]);
    const [due] = await Promise.allSettled([this.#store.dueTargets(nowMs)]);
    const failures = reasonsOf([...duties, due]);
    if (due.status === 'rejected' || this.#isStopping) return { turns: [], failures };
    const order = new Map([...this.#turns].map((id, index) => [id, index]));
    const turns = due.value
      .filter((target) => this.#serves(target) && !this.#busy.has(target.endpoint.id))
      .toSorted((a, b) => (order.get(a.endpoint.id) ?? -1) - (order.get(b.endpoint.id) ?? -1))
      .slice(0, Math.max(0, ENDPOINTS_AT_ONCE - this.#busy.size))
      .map((target) => this.#track(this.#turn(target)));
    return { turns, failures };
  }

  #serves({ endpoint: { url } }: WebhookTarget): boolean {
    return url !== DELIVER_URL || this.#options.deliver !== undefined;
  }

  /** Sends a bounded batch to one endpoint, so that a slow endpoint keeps its place for one time-out only. */
  async #turn(target: WebhookTarget): Promise<number> {
    const { id } = target.endpoint;
    this.#busy.add(id);
    this.#remember(id);
    try {
      const claimed = await this.#store.claimDeliveries({
        endpointId: id,
        limit: REQUESTS_AT_ONCE,
        nowMs: this.#now(),
        leaseMs: this.#timeoutMs + LEASE_BEYOND_TIMEOUT_MS,
      });
      const ended = await Promise.allSettled(claimed.map((each) => this.#send(target, each)));
      const [failure] = reasonsOf(ended);
      if (failure !== undefined) throw failure as Error;
      return claimed.length;
    } finally {
      this.#busy.delete(id);
    }
  }

  #remember(id: string): void {
    this.#turns.delete(id);
    this.#turns.add(id);
    for (const oldest of this.#turns) {
      if (this.#turns.size <= MAX_TURNS) return;
      this.#turns.delete(oldest);
    }
  }

  async #send(target: WebhookTarget, delivery: ClaimedDelivery): Promise<void> {
    const { post = this.#poster.post, random = Math.random, deliver } = this.#options;
    const parts = {
      ...{ deliver, post, random, now: this.#now },
      ...{ timeoutMs: this.#timeoutMs, stopped: this.#stopped.signal },
    };
    const { endpoint } = target;
    const result = await attempt(parts, target, delivery);
    const isNoted = await this.#store.settleDelivery(delivery, result, this.#now());
    if (!isNoted || result.type === 'delivered') return;
    const isOver = result.type === 'gone' || result.retryAtMs === undefined;
    if (!isOver) return;
    const text =
      result.type === 'gone'
        ? `The receiver of webhook ${endpoint.id} is gone; the endpoint is disabled`
        : `Webhook ${endpoint.id} cannot be delivered: attempts are used up`;
    this.#options.logger?.warn(text, {
      webhook: endpoint.id,
      delivery: delivery.id,
      reason: result.error,
    });
  }

  async #announce(nowMs: number): Promise<void> {
    const options = { nowMs, limit: EXPIRING_AT_ONCE };
    while ((await this.#store.announceExpiring(options)) === EXPIRING_AT_ONCE);
  }

  async #prune(nowMs: number): Promise<void> {
    if (nowMs - this.#prunedAtMs < PRUNE_EVERY_MS) return;
    const limits = {
      deliveredBeforeMs: nowMs - KEEP_DELIVERED_MS,
      deadBeforeMs: nowMs - KEEP_DEAD_MS,
      pendingBeforeMs: nowMs - KEEP_PENDING_MS,
      limit: PRUNED_AT_ONCE,
    };
    if ((await this.#store.pruneDeliveries(limits)) < PRUNED_AT_ONCE) this.#prunedAtMs = nowMs;
  }

  /** Logs one failure a minute. */
  #report(failures: readonly unknown[]): void {
    const nowMs = this.#now();
    if (failures.length === 0 || nowMs - this.#reportedAtMs < REPORT_EVERY_MS) return;
    this.#reportedAtMs = nowMs;
    this.#options.logger?.warn('The store of webhooks has failed; it is tried again', {
      reason: messageOf(failures[0]),
    });
  }

  #track<Value>(work: Promise<Value>): Promise<Value> {
    this.#running.add(work);
    const end = (): void => {
      this.#running.delete(work);
    };
    work.then(end, end);
    return work;
  }

  /** Resolves when nothing runs any more, or after this time. */
  async #idle(forMs: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise((resolve) => {
      timer = setTimeout(resolve, forMs);
    });
    await Promise.race([Promise.allSettled(this.#running), late]);
    clearTimeout(timer);
  }
}

function reasonsOf(settled: readonly PromiseSettledResult<unknown>[]): readonly unknown[] {
  return settled.flatMap((it) => (it.status === 'rejected' ? [it.reason as unknown] : []));
}
