/** Parts of the view that belong to a tenant: how far its log is, what waits, and its dead letters. */
import type {
  DeadLetter,
  SeenLog,
  SeenWaits,
  SeenWebhooks,
} from '../../protocol/log/operations.js';
import { isRecord } from '../../protocol/values/json.js';
import type { EventLog } from '../../store/ports/log.js';
import type { WebhookDelivery, WebhookStore } from '../../store/ports/webhooks.js';

const LAG_WINDOW_MS = 120_000;
const LAG_CONVERSATIONS = 50;

/**
 * The time from the last event of each conversation that changed lately until the store had it. A mark of trouble
 * changes a row, too, and a fork begins with events of another conversation: these are left out. @throws errors of the
 * store
 */
export async function lookAtLog(
  log: Pick<EventLog, 'changes' | 'listedIn'>,
  tenant: string,
): Promise<SeenLog> {
  const { changes } = await log.changes({
    ...{ tenants: [tenant], lookBackMs: LAG_WINDOW_MS, limit: LAG_CONVERSATIONS },
  });
  const ids = changes.flatMap((each) => (each.isDeletion ? [] : [each.conversationId]));
  const listed = ids.length === 0 ? [] : await log.listedIn(tenant, [...new Set(ids)]);
  const lags = listed
    .filter(({ snapshot }) => snapshot.trouble === undefined && snapshot.origin === undefined)
    .map(({ snapshot, changedAtMs }) => Math.max(0, changedAtMs - Date.parse(snapshot.updatedAt)))
    .toSorted((one, other) => one - other);
  const typicalMs = lags[Math.floor(lags.length / 2)];
  const worstMs = lags.at(-1);
  return {
    conversations: lags.length,
    ...(typicalMs === undefined ? {} : { typicalMs }),
    ...(worstMs === undefined ? {} : { worstMs }),
  };
}

const COUNTED = 200;
/** After every deadline; lists with such a bound are in the order of deadlines. */
const ALWAYS = '9999-12-31T00:00:00.000Z';

/** @throws errors of the store */
export async function lookAtWaits(log: Pick<EventLog, 'list'>, tenant: string): Promise<SeenWaits> {
  const { conversations, nextCursor } = await log.list({
    ...{ tenant, deadlineBefore: ALWAYS, limit: COUNTED },
  });
  return {
    conversations: conversations.length,
    calls: conversations.reduce((sum, { pending }) => sum + pending.length, 0),
    more: nextCursor !== undefined,
  };
}

const LETTERS = 20;
/** Endpoints whose deliveries are read: a tenant may have more. */
const ENDPOINTS = 20;
/** Pages of an endpoint that are read: those of other tenants may fill the first. */
const PAGES = 10;

/**
 * Dead deliveries of the tenant's endpoints, and those of its events at the endpoints of every tenant. @throws errors of
 * the store
 */
export async function lookAtWebhooks(
  webhooks: WebhookStore | undefined,
  tenant: string,
): Promise<SeenWebhooks> {
  const all = (await webhooks?.endpoints({})) ?? [];
  const endpoints = all.filter((each) => each.tenant === undefined || each.tenant === tenant);
  const letters: DeadLetter[] = [];
  let more = endpoints.length > ENDPOINTS;
  for (const { id } of endpoints.slice(0, ENDPOINTS)) {
    let cursor: string | undefined;
    for (let pages = 0; pages < PAGES; pages += 1) {
      const wanted = { endpointId: id, status: 'dead', limit: LETTERS } as const;
      const page = await webhooks?.deliveries(
        cursor === undefined ? wanted : { ...wanted, cursor },
      );
      for (const delivery of page?.deliveries ?? [])
        if (tenantOf(delivery) === tenant) letters.push(letterOf(delivery));
      cursor = page?.nextCursor;
      if (cursor === undefined || letters.length > LETTERS) break;
    }
    more ||= cursor !== undefined;
  }
  return {
    endpoints: endpoints.length,
    deadLetters: letters.slice(0, LETTERS),
    more: more || letters.length > LETTERS,
  };
}

/** Undefined for a test, which belongs to no conversation. */
function tenantOf({ event: { data } }: WebhookDelivery): string | undefined {
  return isRecord(data) && typeof data['tenant'] === 'string' ? data['tenant'] : undefined;
}

function letterOf(delivery: WebhookDelivery): DeadLetter {
  const { id, endpointId, event, attempts, lastStatus, lastError } = delivery;
  const { data } = event;
  const conversationId = isRecord(data) ? data['conversationId'] : undefined;
  return {
    webhookId: endpointId,
    deliveryId: id,
    type: event.type,
    ...(typeof conversationId === 'string' ? { conversationId } : {}),
    at: event.time,
    attempts,
    ...(lastStatus === undefined ? {} : { lastStatus }),
    ...(lastError === undefined ? {} : { lastError }),
    nextCommand: `npx colloquy webhooks resend ${endpointId} ${id}`,
  };
}
