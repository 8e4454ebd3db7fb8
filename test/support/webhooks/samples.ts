/** Endpoints of webhooks for tests, and what they have been sent. */
import type { WebhookEvent } from '../../../src/protocol/log/webhook-events.js';
import type { WebhookEndpoint, WebhookStore } from '../../../src/store/ports/webhooks.js';
import type { OpenStores } from '../../../src/store/sqlite/event-log.js';

export type WebhookStores = Pick<OpenStores, 'log' | 'webhooks'>;

export const SECRET = `whsec_${Buffer.from('a secret of thirty-two bytes ...').toString('base64')}`;

export async function putEndpoint(
  webhooks: WebhookStore,
  more: Partial<WebhookEndpoint> = {},
  secret = SECRET,
): Promise<WebhookEndpoint> {
  const endpoint: WebhookEndpoint = {
    id: 'hook',
    tenant: 'default',
    url: 'https://example.com/hook',
    status: 'active',
    createdAt: '2030-01-01T00:00:00.000Z',
    ...more,
  };
  await webhooks.putEndpoint(endpoint, { secret, previousUntilMs: 1_000 });
  return endpoint;
}

/** Every event that an endpoint has been given, oldest first. */
export async function eventsFor(
  webhooks: WebhookStore,
  endpointId = 'hook',
): Promise<readonly WebhookEvent[]> {
  const { deliveries } = await webhooks.deliveries({ endpointId, limit: 1_000 });
  return deliveries.map(({ event }) => event as WebhookEvent).toReversed();
}

/** `type subject` of each, without the word that all have. */
export function outlineOf(events: readonly WebhookEvent[]): readonly string[] {
  return events.map(({ type, subject }) =>
    `${type.replace('conversation.', '')} ${subject ?? ''}`.trimEnd(),
  );
}
