/** Webhooks of a tenant: create, list, pause, resume, remove; their secrets, and their deliveries. */
import type { Request, Router } from 'express';
import { ConversationError, invalidField } from '../../../client/api/errors.js';
import { REUSED } from '../../../protocol/values/ids.js';
import type { WebhookEndpoint, WebhookStore } from '../../../store/ports/webhooks.js';
import {
  createEndpoint,
  findEndpoint,
  RequestReused,
  rotateSecret,
  sendTest,
  TooManyEndpoints,
} from '../../../webhooks/endpoints.js';
import type { AppDeps } from '../../request/deps.js';
import { parseBody, parseQuery, pathParameter, requestIdOf } from '../../request/parse.js';
import { addRoute } from '../../request/router.js';
import { tenantOf } from '../../request/tenants.js';
import { NoBodySchema } from '../../schemas/bodies.js';
import { CreateWebhookSchema, DeliveriesQuerySchema } from '../../schemas/webhooks.js';

const LIST = '/v1/webhooks';
const ONE = `${LIST}/:webhookId`;
const DEFAULT_PAGE = 50;

export function addWebhookRoutes(router: Router, deps: AppDeps): void {
  addRoute(router, LIST, {
    get: async (request, response) => {
      const webhooks = await storeOf(deps).endpoints({ tenant: tenantOf(request) });
      response.json({ webhooks });
    },
    post: async (request, response) => {
      const fields = parseBody(CreateWebhookSchema, request);
      const { endpoint, secret } = await created(deps, request, fields);
      response.status(201).json({ webhook: endpoint, secret });
    },
  });
  addRoute(router, ONE, {
    get: async (request, response) => {
      response.json(await found(deps, request));
    },
    delete: async (request, response) => {
      parseBody(NoBodySchema, request);
      const { id } = await found(deps, request);
      await storeOf(deps).removeEndpoint(id);
      response.json({ removed: true, webhookId: id });
    },
  });
  addChanges(router, deps);
  addDeliveries(router, deps);
}

function addChanges(router: Router, deps: AppDeps): void {
  const changes = { pause: 'paused', resume: 'active' } as const;
  for (const [change, status] of Object.entries(changes))
    addRoute(router, `${ONE}/${change}`, {
      post: async (request, response) => {
        parseBody(NoBodySchema, request);
        const endpoint = await found(deps, request);
        await storeOf(deps).setEndpointStatus(endpoint.id, status);
        response.json({ ...endpoint, status });
      },
    });
  addRoute(router, `${ONE}/rotate`, {
    post: async (request, response) => {
      parseBody(NoBodySchema, request);
      const webhook = await found(deps, request);
      const { requestId } = requestIdOf(request, undefined);
      const rotated = await rotateSecret(storeOf(deps), webhook, requestId);
      if (rotated === undefined) throw unknownWebhook(webhook.id);
      response.json({ webhook, ...rotated });
    },
  });
  addRoute(router, `${ONE}/test`, {
    post: async (request, response) => {
      parseBody(NoBodySchema, request);
      const { requestId } = requestIdOf(request, undefined);
      const webhook = await found(deps, request);
      const deliveryId = await sendTest(storeOf(deps), webhook, requestId);
      response.status(202).json({ deliveryId });
    },
  });
}

function addDeliveries(router: Router, deps: AppDeps): void {
  addRoute(router, `${ONE}/deliveries`, {
    get: async (request, response) => {
      const { status, cursor, limit = DEFAULT_PAGE } = parseQuery(DeliveriesQuerySchema, request);
      const { id } = await found(deps, request);
      const page = await storeOf(deps).deliveries({
        ...{ endpointId: id, limit },
        ...(status === undefined ? {} : { status }),
        ...(cursor === undefined ? {} : { cursor }),
      });
      response.json(page);
    },
  });
  addRoute(router, `${ONE}/deliveries/:deliveryId/resend`, {
    post: async (request, response) => {
      parseBody(NoBodySchema, request);
      const { id } = await found(deps, request);
      const deliveryId = pathParameter(request, 'deliveryId');
      if (!(await storeOf(deps).resendDelivery(id, deliveryId, Date.now())))
        throw new ConversationError(
          'unknown_webhook',
          `Webhook "${id}" has no delivery "${deliveryId}" that has ended`,
        );
      response.status(202).json({ resent: true, deliveryId });
    },
  });
}

async function created(
  deps: AppDeps,
  request: Request,
  fields: Parameters<typeof createEndpoint>[2],
) {
  try {
    const { requestId } = requestIdOf(request, undefined);
    return await createEndpoint(storeOf(deps), { tenant: tenantOf(request), requestId }, fields);
  } catch (error) {
    if (error instanceof TooManyEndpoints)
      throw new ConversationError('too_many_webhooks', error.message);
    if (error instanceof RequestReused) throw invalidField('Idempotency-Key', REUSED.message);
    throw error;
  }
}

/** @throws {ConversationError} unknown_webhook, also for one of another tenant */
async function found(deps: AppDeps, request: Request): Promise<WebhookEndpoint> {
  const id = pathParameter(request, 'webhookId');
  const endpoint = await findEndpoint(storeOf(deps), id, tenantOf(request));
  if (endpoint === undefined) throw unknownWebhook(id);
  return endpoint;
}

function unknownWebhook(id: string): ConversationError {
  return new ConversationError('unknown_webhook', `No webhook "${id}"`);
}

function storeOf({ webhooks }: AppDeps): WebhookStore {
  if (webhooks === undefined)
    throw new ConversationError('not_found', 'This API has no store of webhooks');
  return webhooks;
}
