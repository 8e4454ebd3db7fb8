/** The routes of webhooks, over a store in memory. */
import { expect, it, onTestFinished } from 'vitest';
import { openSqliteStores } from '../../../src/store/sqlite/event-log.js';
import { createWebhookSender } from '../../../src/webhooks/sender.js';
import { TESTING } from '../../support/networks/test-identity.js';
import { KEY, stamped, started, turn } from '../../support/samples/log-events.js';
import { problemOf } from '../../support/samples/problems.js';
import { startHttpApp } from '../../support/servers/http-app.js';

const HOOK = { url: 'https://example.com/hook', events: ['conversation.turn.ended'] };

interface Created {
  readonly webhook: { readonly id: string };
  readonly secret: string;
}

async function app() {
  const { webhooks, log } = await openSqliteStores({ file: ':memory:' });
  onTestFinished(() => log.close());
  const identify = () => ({ ...TESTING, tenants: ['default', 'beta'] });
  const started = await startHttpApp({}, { webhooks, identify });
  const create = async (headers: Record<string, string> = {}): Promise<Created> =>
    (await (await started.post('/v1/webhooks', HOOK, headers)).json()) as Created;
  return { ...started, webhooks, log, create };
}

it('creates, lists, pauses, resumes and removes webhooks; only creating shows the secret', async () => {
  const { request, post, create } = await app();
  const { webhook, secret } = await create();
  const { id } = webhook;
  expect(webhook).toEqual({
    ...{ id: expect.stringMatching(/^wh_/) as string, tenant: 'default', status: 'active' },
    ...HOOK,
    createdAt: expect.any(String) as string,
  });
  expect(secret).toMatch(/^whsec_/);
  const list = await (await request('/v1/webhooks')).text();
  expect(JSON.parse(list)).toEqual({ webhooks: [webhook] });
  expect(list).not.toContain('whsec_');
  expect(await (await post(`/v1/webhooks/${id}/pause`, {})).json()).toMatchObject({
    status: 'paused',
  });
  expect(await (await post(`/v1/webhooks/${id}/resume`, {})).json()).toEqual(webhook);
  expect(await (await request(`/v1/webhooks/${id}`)).json()).toEqual(webhook);
  expect((await request(`/v1/webhooks/${id}`, { method: 'DELETE' })).status).toBe(200);
  const gone = await request(`/v1/webhooks/${id}`);
  expect(await problemOf(gone)).toMatchObject({ status: 404, code: 'unknown_webhook' });
});

it('keeps the webhooks of tenants apart', async () => {
  const { request, create } = await app();
  const { webhook } = await create();
  expect(await (await request('/v1/webhooks?tenant=beta')).json()).toEqual({ webhooks: [] });
  const other = await request(`/v1/webhooks/${webhook.id}?tenant=beta`);
  expect(await problemOf(other)).toMatchObject({ code: 'unknown_webhook' });
  expect(await problemOf(await request('/v1/webhooks?tenant=acme'))).toMatchObject({ status: 403 });
});

it('answers a repeat under the same key as the first request', async () => {
  const { post, create } = await app();
  const key = { 'idempotency-key': 'k1' };
  const first = await create(key);
  expect(await create(key)).toEqual(first);
  const other = await post('/v1/webhooks', { ...HOOK, url: 'https://example.com/2' }, key);
  expect(await problemOf(other)).toMatchObject({ status: 422 });
  const path = `/v1/webhooks/${first.webhook.id}/rotate`;
  const rotate = async () =>
    (await (await post(path, {}, { 'idempotency-key': 'k2' })).json()) as Created;
  const rotated = await rotate();
  expect(rotated.secret).not.toBe(first.secret);
  expect(await rotate()).toEqual(rotated);
});

it.each([
  [{ url: 'ftp://example.com' }, '/url'],
  [{ url: 'nowhere' }, '/url'],
  [{ url: 'https://ann:secret@example.com' }, '/url'],
  [{ ...HOOK, events: ['conversation.unknown'] }, '/events/0'],
  [{ ...HOOK, agents: [] }, '/agents'],
  [{ ...HOOK, secret: 'mine' }, '/secret'],
])('refuses %j and names the field', async (body, path) => {
  const { post } = await app();
  expect(await problemOf(await post('/v1/webhooks', body))).toMatchObject({
    status: 422,
    errors: [{ path }],
  });
});

it('refuses more webhooks than a tenant may have', async () => {
  const { post, create } = await app();
  for (let count = 0; count < 20; count += 1) await create();
  expect(await problemOf(await post('/v1/webhooks', HOOK))).toMatchObject({
    status: 409,
    code: 'too_many_webhooks',
  });
});

it('shows dead deliveries, and sends them again; a test is a delivery, too', async () => {
  const { request, post, create, webhooks, log } = await app();
  const { id } = (await create()).webhook;
  await log.append({ ...KEY, runId: 'run-a', events: stamped([started(), ...turn('t1')]) });
  let nowMs = Date.now();
  const post500 = () => Promise.resolve({ status: 500 });
  const sender = createWebhookSender({ store: webhooks, post: post500, now: () => nowMs });
  for (; (await webhooks.deliveryCounts()).dead === 0; nowMs += 3_600_000) await sender.pass();
  const dead = await (await request(`/v1/webhooks/${id}/deliveries?status=dead`)).json();
  expect(dead).toMatchObject({ deliveries: [{ status: 'dead', lastStatus: 500, attempts: 13 }] });
  const deliveryId = (dead as { deliveries: { id: string }[] }).deliveries[0]?.id ?? '';
  const again = `/v1/webhooks/${id}/deliveries/${deliveryId}/resend`;
  expect(await (await post(again, {})).json()).toEqual({ resent: true, deliveryId });
  expect(await problemOf(await post(again, {}))).toMatchObject({ code: 'unknown_webhook' });
  const tested = (await (await post(`/v1/webhooks/${id}/test`, {})).json()) as {
    deliveryId: string;
  };
  const page = await (await request(`/v1/webhooks/${id}/deliveries?limit=1`)).json();
  expect(page).toMatchObject({
    deliveries: [{ id: tested.deliveryId, status: 'pending', event: { type: 'webhook.test' } }],
    nextCursor: expect.any(String) as string,
  });
});

it('says that there are none where the application has no store of webhooks', async () => {
  const { request } = await startHttpApp();
  expect(await problemOf(await request('/v1/webhooks'))).toMatchObject({ code: 'not_found' });
});
