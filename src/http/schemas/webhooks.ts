/** Bodies, queries and answers of the routes of webhooks. */
import { z } from 'zod';
import { WEBHOOK_EVENTS, type WebhookEventType } from '../../protocol/log/webhook-events.js';
import { DELIVERY_STATUSES } from '../../store/ports/webhooks.js';
import {
  MAX_AGENTS,
  MAX_DESCRIPTION_CHARS,
  MAX_URL_CHARS,
  urlProblem,
} from '../../webhooks/endpoints.js';
import { IdSchema } from './bodies.js';
import { TENANT, wholeNumber } from './queries.js';

const EventSchema = z.enum(Object.keys(WEBHOOK_EVENTS) as [WebhookEventType]);

export const CreateWebhookSchema = z.strictObject({
  url: z
    .string()
    .superRefine((text, context) => {
      const message = urlProblem(text);
      if (message !== undefined) context.addIssue({ code: 'custom', message });
    })
    .meta({ format: 'uri', pattern: '^https?://[A-Za-z0-9]', maxLength: MAX_URL_CHARS }),
  description: z.string().max(MAX_DESCRIPTION_CHARS).exactOptional(),
  /** Absent: all. */
  events: z.array(EventSchema).min(1).exactOptional(),
  /** Absent: all. */
  agents: z.array(IdSchema).min(1).max(MAX_AGENTS).exactOptional(),
});

export const DeliveriesQuerySchema = z.strictObject({
  ...TENANT,
  status: z.enum(DELIVERY_STATUSES).exactOptional(),
  cursor: z
    .string()
    .regex(/^\d{1,15}$/, 'must be a cursor of an earlier page')
    .exactOptional(),
  limit: wholeNumber(1, 100).exactOptional(),
});

const text = z.string();
const instant = text.describe('ISO 8601');

export const Webhook = z.looseObject({
  id: text,
  tenant: text,
  url: text,
  description: text.optional(),
  events: z.array(text).optional().describe('absent: all'),
  agents: z.array(text).optional().describe('absent: all'),
  status: z.enum(['active', 'paused', 'disabled']),
  createdAt: instant,
});
const secret = text.describe('signs the deliveries; shown in this answer only');

export const Webhooks = z.looseObject({ webhooks: z.array(Webhook) });
export const WebhookCreated = z.looseObject({ webhook: Webhook, secret });
export const WebhookRotated = z.looseObject({
  webhook: Webhook,
  secret,
  previousUntil: instant.describe('until when the secret before signs as well'),
});
export const WebhookRemoved = z.looseObject({ removed: z.literal(true), webhookId: text });
export const TestSent = z.looseObject({ deliveryId: text });
export const Deliveries = z.looseObject({
  deliveries: z.array(
    z.looseObject({
      id: text.describe('id of the event, and of every attempt to deliver it'),
      status: z.enum(DELIVERY_STATUSES),
      event: z.looseObject({ type: text, time: instant }),
      attempts: z.int(),
      nextAttemptAt: instant.optional(),
      lastStatus: z.int().optional(),
      lastError: text.optional(),
    }),
  ),
  nextCursor: text.optional(),
});
export const Resent = z.looseObject({ resent: z.literal(true), deliveryId: text });
