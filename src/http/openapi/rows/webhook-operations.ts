/** The operations of webhooks. */
import { NoBodySchema } from '../../schemas/bodies.js';
import { ConversationQuerySchema } from '../../schemas/queries.js';
import * as webhooks from '../../schemas/webhooks.js';
import type { Operation } from './operation.js';

const LIST = '/v1/webhooks';
const ONE = `${LIST}/:webhookId`;
const DELIVERY = `${ONE}/deliveries/:deliveryId`;
const OF_TENANT = { right: 'admin', query: ConversationQuerySchema } as const;

export const WEBHOOK_OPERATIONS: readonly Operation[] = [
  {
    ...{ method: 'get', path: LIST, id: 'listWebhooks', ...OF_TENANT },
    summary: 'The webhooks of a tenant',
    answers: { 200: webhooks.Webhooks },
  },
  {
    ...{ method: 'post', path: LIST, id: 'createWebhook', ...OF_TENANT },
    idempotent: true,
    summary: 'Creates a webhook; its secret is in this answer only',
    bodies: [webhooks.CreateWebhookSchema],
    answers: { 201: webhooks.WebhookCreated },
  },
  {
    ...{ method: 'get', path: ONE, id: 'getWebhook', ...OF_TENANT },
    summary: 'One webhook',
    answers: { 200: webhooks.Webhook },
  },
  {
    ...{ method: 'delete', path: ONE, id: 'removeWebhook', ...OF_TENANT },
    summary: 'Removes a webhook with its deliveries',
    answers: { 200: webhooks.WebhookRemoved },
  },
  {
    ...{ method: 'post', path: `${ONE}/rotate`, id: 'rotateWebhook', ...OF_TENANT },
    idempotent: true,
    summary: 'Makes a new secret; the one before signs as well for a day',
    bodies: [NoBodySchema],
    answers: { 200: webhooks.WebhookRotated },
  },
  {
    ...{ method: 'post', path: `${ONE}/pause`, id: 'pauseWebhook', ...OF_TENANT },
    idempotent: 'itself',
    summary: 'Keeps the events of a webhook until it is resumed',
    bodies: [NoBodySchema],
    answers: { 200: webhooks.Webhook },
  },
  {
    ...{ method: 'post', path: `${ONE}/resume`, id: 'resumeWebhook', ...OF_TENANT },
    idempotent: 'itself',
    summary: 'Sends what a webhook has kept, at once; also after it was disabled',
    bodies: [NoBodySchema],
    answers: { 200: webhooks.Webhook },
  },
  {
    ...{ method: 'post', path: `${ONE}/test`, id: 'testWebhook', ...OF_TENANT },
    idempotent: true,
    summary: 'Sends a `webhook.test` to a webhook',
    bodies: [NoBodySchema],
    answers: { 202: webhooks.TestSent },
  },
  {
    ...{ method: 'get', path: `${ONE}/deliveries`, id: 'listDeliveries', right: 'admin' },
    query: webhooks.DeliveriesQuerySchema,
    summary: 'Deliveries of a webhook, newest first',
    answers: { 200: webhooks.Deliveries },
  },
  {
    ...{ method: 'post', path: `${DELIVERY}/resend`, id: 'resendDelivery', ...OF_TENANT },
    idempotent: 'itself',
    summary: 'Sends a delivery that has ended again, such as a dead one',
    bodies: [NoBodySchema],
    answers: { 202: webhooks.Resent },
  },
];
