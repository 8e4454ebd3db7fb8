/**
 * Sends what the outbox holds. Any number of senders may run over one store: each delivery is sent by the one that has
 * claimed it, and those of a killed sender are claimed again when its lease ends. So every event arrives at least once,
 * and those of one conversation arrive at one endpoint in their order.
 */

import type { AllowPrivate } from '../net/guarded/addresses.js';
import type { WebhookEnvelope } from '../protocol/log/webhook-events.js';
import type {
  ClaimedDelivery,
  DeliveryResult,
  WebhookStore,
  WebhookTarget,
} from '../store/ports/webhooks.js';
import { DELIVER_URL } from './endpoints.js';
import { type Post, Poster } from './post.js';
import { retryAtMs } from './retries.js';
import { signatureHeaders } from './signature.js';

/** Takes an event in place of an HTTP request. Resolves when it is done; a rejection is tried again later. */
export type DeliverWebhook = (event: WebhookEnvelope) => Promise<void>;

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
  /** Clock, dice and requests of tests. */
  readonly now?: () => number;
  readonly random?: () => number;
  readonly post?: Post;
}

export interface SenderLogger {
  warn(message: string, fields?: Record<string, unknown>): void;
}

export interface WebhookSender {
  /** Begins to send. Does not keep the process alive. */
  start(): void;
  /** Resolves after the running requests. Never throws. */
  stop(): Promise<void>;
  /** Sends all that is due now; resolves to the number of attempts. @throws {StoreUnavailable} */
  pass(): Promise<number>;
}

const INTERVAL_MS = 1_000;
/** Longer than any attempt takes, and than clocks of machines differ. */
const LEASE_MS = 60_000;
const EXPIRING_AT_ONCE = 200;
const ENDPOINTS_AT_ONCE = 32;
/** Requests to one endpoint at a time, each of another conversation. */
const REQUESTS_AT_ONCE = 8;
const PRUNE_EVERY_MS = 3_600_000;
const PRUNED_AT_ONCE = 1_000;
const KEEP_DELIVERED_MS = 7 * 24 * 3_600_000;
const KEEP_DEAD_MS = 30 * 24 * 3_600_000;
const KEEP_PENDING_MS = 30 * 24 * 3_600_000;
const MAX_ERROR_CHARS = 300;

export function createWebhookSender(options: WebhookSenderOptions): WebhookSender {
  return new Sender(options);
}

class Sender implements WebhookSender {
  readonly #options: WebhookSenderOptions;
  readonly #poster: Poster;
  readonly #post: Post;
  readonly #now: () => number;
  readonly #busy = new Set<string>();
  readonly #running = new Set<Promise<unknown>>();
  #timer: NodeJS.Timeout | undefined;
  #stopping = false;
  #prunedAtMs = 0;
  #isFailing = false;

  constructor(options: WebhookSenderOptions) {
    this.#options = options;
    this.#poster = new Poster(options.allowPrivate ?? []);
    this.#post = options.post ?? this.#poster.post;
    this.#now = options.now ?? Date.now;
  }

  start(): void {
    if (this.#timer !== undefined) return;
    this.#stopping = false;
    this.#timer = setInterval(() => {
      this.#track(this.#safePass());
    }, this.#options.intervalMs ?? INTERVAL_MS);
    this.#timer.unref();
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#stopping = true;
    await Promise.all(this.#running);
    await this.#poster.close().catch(() => undefined);
  }

  /** An endpoint that is slow holds up no other: the next pass leaves it out while this one still sends to it. */
  async pass(): Promise<number> {
    const { store } = this.#options;
    const nowMs = this.#now();
    await this.#prune(nowMs);
    while ((await store.announceExpiring({ nowMs, limit: EXPIRING_AT_ONCE })) === EXPIRING_AT_ONCE);
    const targets = (await store.dueTargets(nowMs))
      .filter((target) => this.#serves(target) && !this.#busy.has(target.endpoint.id))
      .slice(0, Math.max(0, ENDPOINTS_AT_ONCE - this.#busy.size));
    const sent = await Promise.all(targets.map((target) => this.#sendAll(target)));
    return sent.reduce((sum, each) => sum + each, 0);
  }

  #serves({ endpoint: { url } }: WebhookTarget): boolean {
    return url !== DELIVER_URL || this.#options.deliver !== undefined;
  }

  async #safePass(): Promise<void> {
    try {
      await this.pass();
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing)
        this.#options.logger?.warn('Webhooks cannot be read from the store; it is tried again', {
          reason: messageOf(error),
        });
      this.#isFailing = true;
    }
  }

  #track(work: Promise<unknown>): void {
    this.#running.add(work);
    void work.finally(() => this.#running.delete(work));
  }

  async #sendAll(target: WebhookTarget): Promise<number> {
    const { store } = this.#options;
    const { id } = target.endpoint;
    this.#busy.add(id);
    let sent = 0;
    try {
      while (!this.#stopping) {
        const claimed = await store.claimDeliveries({
          endpointId: id,
          limit: REQUESTS_AT_ONCE,
          nowMs: this.#now(),
          leaseMs: LEASE_MS,
        });
        if (claimed.length === 0) break;
        await Promise.all(claimed.map((delivery) => this.#send(target, delivery)));
        sent += claimed.length;
      }
    } finally {
      this.#busy.delete(id);
    }
    return sent;
  }

  async #send(target: WebhookTarget, delivery: ClaimedDelivery): Promise<void> {
    const { endpoint } = target;
    const result = await this.#attempt(target, delivery);
    const isNoted = await this.#options.store.settleDelivery(delivery, result, this.#now());
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

  /** Never throws. */
  async #attempt(
    { endpoint, secrets }: WebhookTarget,
    delivery: ClaimedDelivery,
  ): Promise<DeliveryResult> {
    try {
      if (endpoint.url === DELIVER_URL) {
        await this.#options.deliver?.(delivery.event);
        return { type: 'delivered' };
      }
      const body = JSON.stringify(delivery.event);
      const signed = { id: delivery.id, body, nowMs: this.#now() };
      const { status, retryAfter } = await this.#post(endpoint.url, {
        headers: {
          'content-type': 'application/cloudevents+json; charset=utf-8',
          'user-agent': 'colloquy-webhooks',
          ...signatureHeaders(signed, secrets),
        },
        body,
      });
      if (status >= 200 && status < 300) return { type: 'delivered', httpStatus: status };
      const error = `the receiver answered ${status}`;
      if (status === 410) return { type: 'gone', error, httpStatus: status };
      return this.#failed(delivery, { error, httpStatus: status }, retryAfter);
    } catch (error) {
      return this.#failed(delivery, { error: messageOf(error) });
    }
  }

  #failed(
    { attempts }: ClaimedDelivery,
    failure: { readonly error: string; readonly httpStatus?: number },
    retryAfter?: string,
  ): DeliveryResult {
    const random = (this.#options.random ?? Math.random)();
    const at = retryAtMs({ attempts, nowMs: this.#now(), retryAfter, random });
    return { type: 'failed', ...failure, ...(at === undefined ? {} : { retryAtMs: at }) };
  }

  async #prune(nowMs: number): Promise<void> {
    if (nowMs - this.#prunedAtMs < PRUNE_EVERY_MS) return;
    const limits = {
      deliveredBeforeMs: nowMs - KEEP_DELIVERED_MS,
      deadBeforeMs: nowMs - KEEP_DEAD_MS,
      pendingBeforeMs: nowMs - KEEP_PENDING_MS,
      limit: PRUNED_AT_ONCE,
    };
    if ((await this.#options.store.pruneDeliveries(limits)) < PRUNED_AT_ONCE)
      this.#prunedAtMs = nowMs;
  }
}

/** Includes the cause, because `fetch` itself says only that it failed. */
function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error).slice(0, MAX_ERROR_CHARS);
  const { message, cause } = error;
  const text = cause instanceof Error ? `${message}: ${cause.message}` : message;
  return text.slice(0, MAX_ERROR_CHARS);
}
