/** Rows of endpoints and deliveries: both databases have the same columns, and choose endpoints by the same filter. */

import type { PendingCall } from '../../protocol/calls/suspensions.js';
import type {
  WebhookEnvelope,
  WebhookEvent,
  WebhookEventType,
} from '../../protocol/log/webhook-events.js';
import type {
  ClaimedDelivery,
  DeliveryCounts,
  DeliveryPage,
  DeliveryResult,
  DeliveryStatus,
  GivenSecret,
  WebhookDelivery,
  WebhookEndpoint,
  WebhookSecrets,
  WebhookStatus,
  WebhookTarget,
} from '../ports/webhooks.js';
import { cursorOf } from './paging.js';
import { numberIn, type Row, textIn } from './rows.js';

/** Rows of the table of endpoints, apart from its keys: `definition` and `secrets` as JSON. */
export function definitionOf(endpoint: WebhookEndpoint): string {
  const { id: _id, tenant: _tenant, status: _status, ...definition } = endpoint;
  return JSON.stringify(definition);
}

export function endpointOf(row: Row): WebhookEndpoint {
  const tenant = row['tenant'];
  return {
    ...(JSON.parse(textIn(row, 'definition')) as Omit<WebhookEndpoint, 'id' | 'status'>),
    id: textIn(row, 'id'),
    ...(typeof tenant === 'string' ? { tenant } : {}),
    status: textIn(row, 'status') as WebhookStatus,
  };
}

/** In the order of their creation, which no index has: endpoints are few. */
export function oldestFirst(rows: readonly Row[]): readonly WebhookEndpoint[] {
  const rank = ({ createdAt, id }: WebhookEndpoint): string => `${createdAt} ${id}`;
  return rows.map(endpointOf).toSorted((left, right) => (rank(left) < rank(right) ? -1 : 1));
}

export function targetOf(row: Row): WebhookTarget {
  const secrets = JSON.parse(textIn(row, 'secrets')) as WebhookSecrets;
  return { endpoint: endpointOf(row), secrets };
}

/** A rotation that is repeated because its answer was lost must not end the secret that the receiver has. */
const MAX_PREVIOUS_SECRETS = 4;

/** The endpoint after `putEndpoint`: the same value where nothing is to be written, undefined where there is none. */
export function targetAfter(
  before: WebhookTarget | undefined,
  endpoint: WebhookEndpoint,
  given: GivenSecret,
): WebhookTarget | undefined {
  if (given.only === (before === undefined ? 'known' : 'new')) return before;
  const { createdAt, status } = before?.endpoint ?? endpoint;
  return {
    endpoint: { ...endpoint, createdAt, status },
    secrets: secretsAfter(before?.secrets, given),
  };
}

/** The current secret stays where it is given again, or its request is repeated. */
function secretsAfter(
  before: WebhookSecrets | undefined,
  { secret, previousUntilMs, requestId }: GivenSecret,
): WebhookSecrets {
  const current = { current: secret, ...(requestId === undefined ? {} : { requestId }) };
  if (before === undefined) return current;
  const isRepeat = requestId !== undefined && before.requestId === requestId;
  if (isRepeat || before.current === secret) return before;
  const previous = [
    { secret: before.current, untilMs: previousUntilMs },
    ...(before.previous ?? []),
  ];
  return { ...current, previous: previous.slice(0, MAX_PREVIOUS_SECRETS) };
}

/** When a new delivery happened and is due: by the clock of this process where the event's is ahead of it. */
export function timesOf({ time }: WebhookEnvelope): {
  readonly sinceMs: number;
  readonly dueMs: number;
} {
  const sinceMs = Date.parse(time);
  return { sinceMs, dueMs: Math.min(sinceMs, Date.now()) };
}

export interface DeliveryRow {
  readonly endpointId: string;
  readonly event: WebhookEvent;
}

/** The deliveries of events of one conversation, in order, for those of these endpoints that want them. */
export function deliveriesOf(
  events: readonly WebhookEvent[],
  endpoints: readonly WebhookEndpoint[],
): readonly DeliveryRow[] {
  return events.flatMap((event) =>
    endpoints
      .filter((endpoint) => wants(endpoint, event))
      .map(({ id }) => ({ endpointId: id, event })),
  );
}

function wants({ events, agents, status }: WebhookEndpoint, { type, data }: WebhookEvent): boolean {
  if (status === 'disabled') return false;
  const isOfAgent = agents?.some((agent) => agent === data.agent) ?? true;
  return isOfAgent && (events?.some((each: WebhookEventType) => each === type) ?? true);
}

export function deliveryOf(row: Row): WebhookDelivery {
  const status = textIn(row, 'status') as DeliveryStatus;
  const { last_status: lastStatus, last_error: lastError } = row;
  return {
    id: textIn(row, 'event_id'),
    endpointId: textIn(row, 'endpoint_id'),
    status,
    event: JSON.parse(textIn(row, 'event')) as WebhookEnvelope,
    attempts: numberIn(row, 'attempts'),
    ...(status === 'pending'
      ? { nextAttemptAt: new Date(numberIn(row, 'next_at_ms')).toISOString() }
      : {}),
    ...(lastStatus === null ? {} : { lastStatus: Number(lastStatus) }),
    ...(typeof lastError === 'string' ? { lastError } : {}),
  };
}

export function claimedOf(row: Row): ClaimedDelivery {
  return { ...deliveryOf(row), claim: textIn(row, 'claim') };
}

/** Makes the page from rows of which one more was read than the page has. */
export function deliveryPage(rows: readonly Row[], limit: number): DeliveryPage {
  const page = rows.slice(0, limit);
  const deliveries = page.map(deliveryOf);
  const last = page.at(-1);
  if (rows.length <= limit || last === undefined) return { deliveries };
  return { deliveries, nextCursor: cursorOf(numberIn(last, 'position')) };
}

/** Statement of both adapters: reads the deliveries that have not been delivered, along one index. */
export function countsQuery(deliveries: string): string {
  return `SELECT (SELECT count(*) FROM ${deliveries} WHERE status = 'pending') AS pending,
    (SELECT count(*) FROM ${deliveries} WHERE status = 'dead') AS dead,
    (SELECT min(since_ms) FROM ${deliveries} WHERE status = 'pending') AS oldest_ms`;
}

export function countsOf(row: Row = {}): DeliveryCounts {
  const oldest = row['oldest_ms'];
  return {
    pending: numberIn(row, 'pending'),
    dead: numberIn(row, 'dead'),
    ...(oldest === null ? {} : { oldestPendingAtMs: Number(oldest) }),
  };
}

export interface SettledColumns {
  readonly status: DeliveryStatus;
  readonly nextAtMs: number;
  /** When the delivery has ended; null: it has not. */
  readonly endedAtMs: number | null;
  readonly lastStatus: number | null;
  readonly lastError: string | null;
}

/** The columns of a delivery after an attempt. */
export function settledColumns(result: DeliveryResult, nowMs: number): SettledColumns {
  const lastStatus = result.httpStatus ?? null;
  if (result.type === 'delivered')
    return { status: 'delivered', nextAtMs: 0, endedAtMs: nowMs, lastStatus, lastError: null };
  const failed = { lastStatus, lastError: result.error };
  if (result.type === 'failed' && result.retryAtMs === undefined)
    return { ...failed, status: 'dead', nextAtMs: 0, endedAtMs: nowMs };
  const nextAtMs = result.type === 'failed' ? (result.retryAtMs ?? nowMs) : nowMs;
  return { ...failed, status: 'pending', nextAtMs, endedAtMs: null };
}

/** Shorter waits end too soon for a warning to be of use. */
const MIN_WAIT_MS = 60_000;
const MAX_LEAD_MS = 3_600_000;

/**
 * When the end of a wait is announced: an hour before it, of a wait of less than four hours a quarter of it. Undefined
 * for a wait of less than a minute.
 */
export function warnAtMs({ openedAt, deadline }: PendingCall): number | undefined {
  const endMs = Date.parse(deadline);
  const waitMs = endMs - Date.parse(openedAt);
  return waitMs >= MIN_WAIT_MS ? endMs - Math.min(MAX_LEAD_MS, waitMs / 4) : undefined;
}
