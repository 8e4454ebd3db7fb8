/** The contract of every store for deliveries of webhooks. `make` gives empty stores each time. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createDeletions } from '../../../src/projection/duties/deletions.js';
import type { WebhookEnvelope } from '../../../src/protocol/log/webhook-events.js';
import type { ClaimedDelivery, WebhookStore } from '../../../src/store/ports/webhooks.js';
import { promise } from '../promise.js';
import { keyed } from '../samples/list-events.js';
import { KEY, stamped, started, turn } from '../samples/log-events.js';
import { putEndpoint, SECRET, type WebhookStores } from './samples.js';

const LEASE_MS = 60_000;
/** After the events have happened. */
const START_MS = Date.parse('2031-01-01T00:00:00.000Z');
const at = (ms: number): number => START_MS + ms;
const TURNS = [...turn('t1'), ...turn('t2')];

export function describeDeliveries(name: string, make: () => Promise<WebhookStores>): void {
  describe(name, () => {
    let stores: WebhookStores;
    let webhooks: WebhookStore;
    beforeEach(async () => {
      stores = await make();
      ({ webhooks } = stores);
      await putEndpoint(webhooks);
      await stores.log.append({ ...KEY, runId: 'run-a', events: stamped([started(), ...TURNS]) });
    });
    afterEach(async () => {
      await stores.log.close();
    });
    const claim = async (nowMs: number, limit = 9): Promise<readonly ClaimedDelivery[]> =>
      await webhooks.claimDeliveries({
        endpointId: 'hook',
        limit,
        nowMs: at(nowMs),
        leaseMs: LEASE_MS,
      });
    const turnOf = ({ event }: ClaimedDelivery): string | undefined => event.subject;
    const one = async (nowMs: number): Promise<ClaimedDelivery> => {
      const [claimed] = await claim(nowMs);
      if (claimed === undefined) throw new Error('nothing is due');
      return claimed;
    };

    it('are claimed one at a time for each conversation, oldest first', async () => {
      const other = keyed('other');
      const events = stamped([started(other), ...turn('t9')]);
      await stores.log.append({ ...other, runId: 'run-b', events });
      const first = await claim(1_000);
      expect(first.map(turnOf)).toEqual(['t1', 't9']);
      expect(await claim(1_000)).toEqual([]);
      for (const each of first)
        await webhooks.settleDelivery(each, { type: 'delivered' }, at(1_001));
      expect((await claim(1_002)).map(turnOf)).toEqual(['t2']);
    });

    it('are claimed by no other sender before the lease ends, and settled by the last that claimed', async () => {
      const lost = await one(1_000);
      expect(await claim(999 + LEASE_MS)).toEqual([]);
      const again = await one(1_000 + LEASE_MS);
      expect(again).toMatchObject({ id: lost.id, attempts: 2 });
      expect(await webhooks.settleDelivery(lost, { type: 'delivered' }, at(2_000))).toBe(false);
      expect(await webhooks.settleDelivery(again, { type: 'delivered' }, at(2_000))).toBe(true);
    });

    it('are tried again when they are due, and hold back those behind them', async () => {
      const failed = {
        type: 'failed',
        error: '503',
        httpStatus: 503,
        retryAtMs: at(9_000),
      } as const;
      await webhooks.settleDelivery(await one(1_000), failed, at(1_100));
      expect(await claim(8_999)).toEqual([]);
      expect(await webhooks.dueTargets(at(8_999))).toEqual([]);
      const { deliveries } = await webhooks.deliveries({ endpointId: 'hook', limit: 9 });
      expect(deliveries.at(-1)).toMatchObject({
        ...{ status: 'pending', attempts: 1, lastStatus: 503, lastError: '503' },
        nextAttemptAt: new Date(at(9_000)).toISOString(),
      });
      expect((await claim(9_000)).map(turnOf)).toEqual(['t1']);
    });

    it(
      'are dead when they are not tried again; the next ones go on, and a dead one can be sent again',
      promise('G359'),
      async () => {
        const dead = await one(1_000);
        await webhooks.settleDelivery(dead, { type: 'failed', error: 'refused' }, at(1_100));
        const page = await webhooks.deliveries({ endpointId: 'hook', status: 'dead', limit: 9 });
        expect(page.deliveries).toMatchObject([
          { id: dead.id, status: 'dead', lastError: 'refused' },
        ]);
        expect(await webhooks.deliveryCounts()).toEqual({
          ...{ pending: 1, dead: 1 },
          oldestPendingAtMs: expect.any(Number) as number,
        });
        const next = await one(1_200);
        expect(turnOf(next)).toBe('t2');
        await webhooks.settleDelivery(next, { type: 'delivered', httpStatus: 200 }, at(1_300));
        expect(await webhooks.resendDelivery('hook', dead.id, at(1_350))).toBe(true);
        expect(await webhooks.resendDelivery('hook', dead.id, at(1_350))).toBe(false);
        expect(await webhooks.resendDelivery('hook', 'msg_unknown', at(1_350))).toBe(false);
        expect(await one(1_400)).toMatchObject({ id: dead.id, attempts: 1 });
      },
    );

    it(
      'that are sent again by hand stand behind those that wait already',
      promise('G359'),
      async () => {
        const dead = await one(1_000);
        await webhooks.settleDelivery(dead, { type: 'failed', error: 'refused' }, at(1_100));
        const next = await one(1_200);
        await webhooks.resendDelivery('hook', dead.id, at(1_250));
        // The one that is being sent is neither overtaken nor held back.
        expect(await claim(1_300)).toEqual([]);
        await webhooks.settleDelivery(next, { type: 'delivered' }, at(1_400));
        const later = stamped(turn('t3'), { from: 12 });
        await stores.log.append({ ...KEY, runId: 'run-a', events: later });
        expect((await claim(1_500)).map(turnOf)).toEqual(['t1']);
      },
    );

    it('wait while their endpoint is paused, and are due at once when it goes on', async () => {
      const retry = { type: 'failed', error: 'down', retryAtMs: at(99_000) } as const;
      await webhooks.settleDelivery(await one(1_000), retry, at(1_000));
      await webhooks.setEndpointStatus('hook', 'paused');
      expect(await webhooks.dueTargets(at(999_000))).toEqual([]);
      expect(await webhooks.setEndpointStatus('hook', 'active')).toBe(true);
      expect(await webhooks.dueTargets(at(1_001))).toHaveLength(1);
      expect((await claim(1_001)).map(turnOf)).toEqual(['t1']);
      expect(await webhooks.setEndpointStatus('no-such', 'active')).toBe(false);
    });

    it('disable their endpoint when the receiver is gone', async () => {
      const gone = { type: 'gone', error: '410', httpStatus: 410 } as const;
      await webhooks.settleDelivery(await one(1_000), gone, at(1_000));
      expect((await webhooks.endpoint('hook'))?.endpoint.status).toBe('disabled');
      expect(await claim(2_000)).toEqual([]);
      await stores.log.append({
        ...KEY,
        runId: 'run-a',
        events: stamped(turn('t3'), { from: 12 }),
      });
      await webhooks.setEndpointStatus('hook', 'active');
      expect(await webhooks.deliveryCounts()).toEqual({
        ...{ pending: 2, dead: 0 },
        oldestPendingAtMs: expect.any(Number) as number,
      });
    });

    it('are listed in pages, newest first', async () => {
      const first = await webhooks.deliveries({ endpointId: 'hook', limit: 1 });
      expect(first.deliveries.map(({ event }) => event.subject)).toEqual(['t2']);
      const cursor = first.nextCursor ?? '';
      const second = await webhooks.deliveries({ endpointId: 'hook', limit: 1, cursor });
      expect(second.deliveries.map(({ event }) => event.subject)).toEqual(['t1']);
      expect(second.nextCursor).toBeUndefined();
      const bad = webhooks.deliveries({ endpointId: 'hook', limit: 1, cursor: 'x' });
      await expect(bad).rejects.toThrow(RangeError);
    });

    it('are removed some time after their end, or after their event where they never end', async () => {
      const none = { deliveredBeforeMs: 0, deadBeforeMs: 0, pendingBeforeMs: 0, limit: 9 };
      const prune = async (which: keyof typeof none, beforeMs: number) =>
        await webhooks.pruneDeliveries({ ...none, [which]: beforeMs });
      await webhooks.settleDelivery(await one(1_000), { type: 'delivered' }, at(5_000));
      expect(await prune('deliveredBeforeMs', at(5_000))).toBe(0);
      expect(await prune('deliveredBeforeMs', at(5_001))).toBe(1);
      const { deliveries } = await webhooks.deliveries({ endpointId: 'hook', limit: 9 });
      const happenedMs = Date.parse(deliveries[0]?.event.time ?? '');
      expect(await webhooks.deliveryCounts()).toEqual({
        ...{ pending: 1, dead: 0 },
        oldestPendingAtMs: happenedMs,
      });
      expect(await prune('pendingBeforeMs', happenedMs)).toBe(0);
      await webhooks.settleDelivery(await one(6_000), { type: 'failed', error: 'no' }, at(6_000));
      expect(await prune('deadBeforeMs', at(6_000))).toBe(0);
      const id = deliveries[0]?.id ?? '';
      await webhooks.resendDelivery('hook', id, at(9_000));
      // One that is sent again is as old as the request for that.
      expect(await webhooks.deliveryCounts()).toMatchObject({ oldestPendingAtMs: at(9_000) });
      expect(await prune('pendingBeforeMs', at(9_000))).toBe(0);
      expect(await prune('pendingBeforeMs', at(9_001))).toBe(1);
      expect(await webhooks.deliveryCounts()).toEqual({ pending: 0, dead: 0 });
    });

    it('of a test go to their endpoint alone, once for each id, and hold back no other', async () => {
      const time = '2030-01-01T00:00:00.000Z';
      const test = (id: string): WebhookEnvelope => ({
        specversion: '1.0',
        ...{ id, source: '/test', type: 'webhook.test', data: {}, time, timestamp: time },
        datacontenttype: 'application/json',
      });
      for (const id of ['msg_test', 'msg_test', 'msg_other'])
        await webhooks.enqueue('hook', test(id));
      await webhooks.enqueue('no-such', test('msg_test'));
      const claimed = await claim(1_000);
      expect(claimed.map(({ id }) => id).slice(1)).toEqual(['msg_test', 'msg_other']);
      expect(await webhooks.deliveryCounts()).toMatchObject({ pending: 4, dead: 0 });
    });

    it('are due in the order of their time: first the endpoint and the delivery that waits longest', async () => {
      await putEndpoint(webhooks, { id: 'after' });
      const other = keyed('other');
      const events = stamped([started(other), ...turn('t9')], { clock: 500 });
      await stores.log.append({ ...other, runId: 'run-b', events });
      const due = async (nowMs: number) =>
        (await webhooks.dueTargets(at(nowMs))).map(({ endpoint }) => endpoint.id);
      expect(await due(1_000)).toEqual(['hook', 'after']);
      const retry = { type: 'failed', error: '503', retryAtMs: at(2_000) } as const;
      for (const each of await claim(1_000)) await webhooks.settleDelivery(each, retry, at(1_000));
      expect(await due(2_000)).toEqual(['after', 'hook']);
      const later = stamped([started(keyed('third')), ...turn('t8')]);
      await stores.log.append({ ...keyed('third'), runId: 'run-c', events: later });
      expect((await claim(2_000, 2)).map(turnOf)).toEqual(['t1', 't8']);
    });

    describe('and endpoints', () => {
      it('keep the earlier secret for a while when they get another one', async () => {
        const again = await putEndpoint(webhooks, { url: 'https://example.com/other' });
        expect((await webhooks.endpoint('hook'))?.secrets).toEqual({ current: SECRET });
        const secret = { secret: 'whsec_bmV3', previousUntilMs: 7_000 };
        await webhooks.putEndpoint(again, secret);
        expect(await webhooks.endpoint('hook')).toEqual({
          endpoint: again,
          secrets: { current: 'whsec_bmV3', previous: [{ secret: SECRET, untilMs: 7_000 }] },
        });
        await webhooks.setEndpointStatus('hook', 'paused');
        await webhooks.putEndpoint({ ...again, createdAt: 'later' }, secret);
        const { endpoint } = (await webhooks.endpoint('hook')) ?? {};
        expect(endpoint).toEqual({ ...again, status: 'paused' });
      });

      it('are removed with their tenant, secrets and deliveries included', async () => {
        await putEndpoint(webhooks, { id: 'acme', tenant: 'acme' });
        const { tenant: _tenant, ...everyTenant } = await putEndpoint(webhooks, { id: 'every' });
        await webhooks.putEndpoint(everyTenant, { secret: 'x', previousUntilMs: 0 });
        const deletions = createDeletions(stores);
        await deletions.removeOfTenant('default');
        await deletions.removeOfTenant('default');
        expect((await webhooks.endpoints({})).map(({ id }) => id)).toEqual(['acme', 'every']);
        expect(await webhooks.endpoint('hook')).toBeUndefined();
        expect(await webhooks.deliveryCounts()).toEqual({ pending: 0, dead: 0 });
      });

      it('are listed oldest first, and may hold any text', async () => {
        const description = 'a \u0000 and \ud800';
        await putEndpoint(webhooks, {
          id: 'z',
          createdAt: '2029-01-01T00:00:00.000Z',
          description,
        });
        await putEndpoint(webhooks, { id: 'b' });
        const listed = await webhooks.endpoints({});
        expect(listed.map(({ id }) => id)).toEqual(['z', 'b', 'hook']);
        expect(listed[0]).toMatchObject({ description });
      });

      it('are listed by tenant, and removed with their deliveries', async () => {
        const acme = await putEndpoint(webhooks, { id: 'acme', tenant: 'acme' });
        expect(await webhooks.endpoints({ tenant: 'acme' })).toEqual([acme]);
        expect((await webhooks.endpoints({})).map(({ id }) => id).toSorted()).toEqual([
          'acme',
          'hook',
        ]);
        expect(await webhooks.removeEndpoint('hook')).toBe(true);
        expect(await webhooks.removeEndpoint('hook')).toBe(false);
        expect(await webhooks.deliveryCounts()).toEqual({ pending: 0, dead: 0 });
        expect(await webhooks.endpoint('hook')).toBeUndefined();
      });
    });
  });
}
