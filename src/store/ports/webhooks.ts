/**
 * Endpoints of webhooks and their deliveries. An append writes a delivery for each event and endpoint in its own
 * transaction, so an event that readers see cannot be lost on its way out. Times are milliseconds by the clock of the
 * caller: a lease must be much longer than the clocks of machines differ. Every method may reject with
 * `StoreUnavailable`.
 */
import type { WebhookEnvelope, WebhookEventType } from '../../protocol/log/webhook-events.js';

/** `paused`: events are kept, none is sent. `disabled`: the receiver answered 410; no event is kept. */
export type WebhookStatus = 'active' | 'paused' | 'disabled';

export interface WebhookEndpoint {
  readonly id: string;
  /** Absent: events of every tenant, for endpoints that the configuration names. */
  readonly tenant?: string;
  /** `https://…`, or `deliver:` for the function of the application. */
  readonly url: string;
  readonly description?: string;
  /** Absent: all. */
  readonly events?: readonly WebhookEventType[];
  /** Events of conversations with these agents. Absent: all. */
  readonly agents?: readonly string[];
  readonly status: WebhookStatus;
  /** ISO 8601 */
  readonly createdAt: string;
}

/** `whsec_…`, as Standard Webhooks writes secrets. */
export interface WebhookSecrets {
  readonly current: string;
  /** These sign as well, until their time; newest first. */
  readonly previous?: readonly { readonly secret: string; readonly untilMs: number }[];
  /** The request that brought the current secret, if it had an id. */
  readonly requestId?: string;
}

export interface GivenSecret {
  readonly secret: string;
  readonly previousUntilMs: number;
  /** Where it brought the current secret, that one stays. */
  readonly requestId?: string | undefined;
  /** `new`: an endpoint that is there stays as it is. `known`: where there is none, none is created. */
  readonly only?: 'new' | 'known' | undefined;
}

export interface WebhookTarget {
  readonly endpoint: WebhookEndpoint;
  readonly secrets: WebhookSecrets;
}

export const DELIVERY_STATUSES = ['pending', 'delivered', 'dead'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

export interface WebhookDelivery {
  /** Id of the event. */
  readonly id: string;
  readonly endpointId: string;
  readonly status: DeliveryStatus;
  readonly event: WebhookEnvelope;
  /** Attempts that were begun. */
  readonly attempts: number;
  /** Present while pending. ISO 8601; in the past: as soon as it is its turn. */
  readonly nextAttemptAt?: string;
  /** Status of the last response, and the reason of the last failure. */
  readonly lastStatus?: number;
  readonly lastError?: string;
}

/** A delivery that a sender holds until its lease ends. */
export interface ClaimedDelivery extends WebhookDelivery {
  /** Names this attempt; another sender's attempt has another name. */
  readonly claim: string;
}

export type DeliveryResult =
  | { readonly type: 'delivered'; readonly httpStatus?: number }
  | {
      readonly type: 'failed';
      readonly error: string;
      readonly httpStatus?: number;
      /** When it is tried again. Absent: never, it is dead. */
      readonly retryAtMs?: number;
    }
  /** The receiver wants no more: the endpoint is disabled, and the delivery stays pending. */
  | { readonly type: 'gone'; readonly error: string; readonly httpStatus: number };

export interface DeliveryPage {
  readonly deliveries: readonly WebhookDelivery[];
  readonly nextCursor?: string;
}

/** Over all tenants. */
export interface DeliveryCounts {
  readonly pending: number;
  readonly dead: number;
  /** When the oldest event that is pending happened, by the clock of its workflow, or was sent again. Absent: none is. */
  readonly oldestPendingAtMs?: number;
}

export interface WebhookStore {
  /**
   * Creates an endpoint, or changes the one with its id; `status` and `createdAt` of an existing one stay. Another
   * secret takes the place of the current one, which signs as well until `previousUntilMs`. Resolves to what is stored
   * then; undefined where there is no endpoint. Writers of one endpoint take turns.
   */
  putEndpoint(endpoint: WebhookEndpoint, secret: GivenSecret): Promise<WebhookTarget | undefined>;
  /** Oldest first. With a tenant, those of this tenant alone, without those of every tenant. */
  endpoints(options: { readonly tenant?: string }): Promise<readonly WebhookEndpoint[]>;
  endpoint(id: string): Promise<WebhookTarget | undefined>;
  /** `active` makes all pending deliveries due. False when there is no such endpoint. Safe to repeat. */
  setEndpointStatus(id: string, status: WebhookStatus): Promise<boolean>;
  /** Removes the endpoint with its deliveries. False when there was none. */
  removeEndpoint(id: string): Promise<boolean>;
  /** Removes all of a tenant with their deliveries; resolves to their number. Those of every tenant stay. */
  removeEndpoints(tenant: string): Promise<number>;

  /**
   * Adds one delivery for one endpoint, such as a test; nothing if it has this event. Such a delivery waits for no
   * other, and no other waits for it.
   */
  enqueue(endpointId: string, event: WebhookEnvelope): Promise<void>;
  /**
   * Adds the events of waits that end soon; resolves to the number of waits. Each is taken once; none while there is no
   * endpoint.
   */
  announceExpiring(options: { readonly nowMs: number; readonly limit: number }): Promise<number>;
  /** Active endpoints with a delivery that is due, longest due first. */
  dueTargets(nowMs: number): Promise<readonly WebhookTarget[]>;
  /**
   * Takes due deliveries of an active endpoint, longest due first, at most one of each conversation: the oldest that is
   * pending. No other sender gets them until the lease ends.
   */
  claimDeliveries(options: {
    readonly endpointId: string;
    readonly limit: number;
    readonly nowMs: number;
    readonly leaseMs: number;
  }): Promise<readonly ClaimedDelivery[]>;
  /** Records the end of an attempt, unless another sender has claimed the delivery meanwhile; then false. */
  settleDelivery(
    delivery: ClaimedDelivery,
    result: DeliveryResult,
    nowMs: number,
  ): Promise<boolean>;
  /** Newest first. @throws {RangeError} when the cursor is not one of an earlier page */
  deliveries(options: {
    readonly endpointId: string;
    readonly status?: DeliveryStatus;
    readonly limit: number;
    readonly cursor?: string;
  }): Promise<DeliveryPage>;
  /**
   * Makes a delivery that has ended pending again, as if its event happened now and was not tried, behind all others: so
   * it holds back none that is there already. False when there is no such one.
   */
  resendDelivery(endpointId: string, deliveryId: string, nowMs: number): Promise<boolean>;
  /**
   * Removes deliveries that ended before these times, pending ones whose event is older than that, and those of removed
   * endpoints; resolves to their number.
   */
  pruneDeliveries(options: {
    readonly deliveredBeforeMs: number;
    readonly deadBeforeMs: number;
    readonly pendingBeforeMs: number;
    readonly limit: number;
  }): Promise<number>;
  /** For metrics. Reads every delivery that is pending or dead, so callers keep the result for some seconds. */
  deliveryCounts(): Promise<DeliveryCounts>;
}
