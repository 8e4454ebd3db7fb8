/** The contract of every store of spaces for agents that are due to be woken. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ClaimedWake } from '../../../../src/store/ports/spaces/spaces.js';
import { promise } from '../../promise.js';
import { stamped, started, turn } from '../../samples/log-events.js';
import { BOT, KEY, makerOf, OTHER_BOT, type SpaceStores, text, tool } from './samples.js';

const LEASE_MS = 1_000;

export function describeWakes(name: string, make: () => Promise<SpaceStores>): void {
  describe(name, promise('G367'), () => {
    let stores: SpaceStores;
    beforeEach(async () => {
      stores = await make();
    });
    afterEach(async () => {
      await stores.log.close();
    });
    const spaces = () => stores.spaces;
    const { created, stored } = makerOf(spaces);
    const claim = async (nowMs: number, limit = 9): Promise<readonly ClaimedWake[]> =>
      await spaces().claimWakes({ limit, nowMs, leaseMs: LEASE_MS });
    const textsOf = async (wake: ClaimedWake, limit = 9): Promise<readonly string[]> =>
      (await spaces().textsFor(wake, { limit })).map(({ id }) => id);
    const opened = async (): Promise<void> => {
      await created();
      await stored({ id: 'm0' });
      for (const member of [BOT, OTHER_BOT]) await spaces().join({ ...KEY, member, nowMs: 1 });
    };

    it('are all agents but the author of a text, for texts since they joined', async () => {
      await opened();
      expect(await claim(9_000)).toEqual([]);
      await stored({ id: 'm1', author: BOT });
      const [wake, ...others] = await claim(9_000);
      expect(others).toEqual([]);
      expect(wake).toMatchObject({
        ...{ ...KEY, memberId: OTHER_BOT.id, conversationId: 'c-2', agent: 'bot' },
        ...{ afterPosition: 1, attempts: 1 },
      });
      expect(await textsOf(wake!)).toEqual(['m1']);
    });

    it('are not due for calls', promise('H51'), async () => {
      await opened();
      await stored({ id: 'call', ...tool('running') });
      await stored({ id: 'call', ...tool('complete') });
      expect(await claim(9_000)).toEqual([]);
    });

    it('belong to one caller until the lease ends, and to the next one then', async () => {
      await opened();
      await stored({ id: 'm1', author: BOT });
      const [first] = await claim(4_000);
      expect(await claim(4_000 + LEASE_MS - 1)).toEqual([]);
      const [second] = await claim(4_000 + LEASE_MS);
      expect(second).toMatchObject({ attempts: 2, afterPosition: 1 });
      const settled = { position: 2, nowMs: 6_000 };
      expect(await spaces().settleWake(first!, settled)).toBe(false);
      expect(await spaces().settleWake(second!, settled)).toBe(true);
      expect(await claim(99_000)).toEqual([]);
    });

    it('stay due for texts that come while they are being woken', async () => {
      await opened();
      await stored({ id: 'm1', author: BOT });
      const [wake] = await claim(4_000);
      await stored({ id: 'm2', author: BOT });
      expect(await spaces().settleWake(wake!, { position: 2, nowMs: 4_500 })).toBe(true);
      expect(await claim(4_499)).toEqual([]);
      const [next] = await claim(4_500);
      expect(next).toMatchObject({ afterPosition: 2, attempts: 1 });
      expect(await textsOf(next!)).toEqual(['m2']);
    });

    it('are tried again from a later time on after a failure, from where they stopped', async () => {
      await opened();
      for (const id of ['m1', 'm2', 'm3']) await stored({ id, author: BOT });
      const [wake] = await claim(4_000);
      expect(await textsOf(wake!, 2)).toEqual(['m1', 'm2']);
      await spaces().settleWake(wake!, { position: 2, nowMs: 4_100, retryAtMs: 7_000 });
      expect(await claim(6_999)).toEqual([]);
      const [again] = await claim(7_000);
      expect(again).toMatchObject({ afterPosition: 2, attempts: 1 });
      await spaces().settleWake(again!, { position: 2, nowMs: 7_100, retryAtMs: 8_000 });
      const [third] = await claim(8_000);
      expect(third).toMatchObject({ attempts: 2 });
      expect(await textsOf(third!)).toEqual(['m2', 'm3']);
    });

    it('are claimed longest due first, and no more than asked for', async () => {
      await opened();
      await stored({ id: 'm1', author: BOT, nowMs: 5_000 });
      await stored({ id: 'm2', author: OTHER_BOT, nowMs: 6_000 });
      expect((await claim(9_000, 1)).map(({ memberId }) => memberId)).toEqual([OTHER_BOT.id]);
      expect((await claim(9_000, 1)).map(({ memberId }) => memberId)).toEqual([BOT.id]);
    });

    it('are never those of an agent that has left, or whose conversation was deleted', async () => {
      await opened();
      const key = { tenant: 'default', conversationId: 'c-2' };
      await stores.log.append({
        ...key,
        runId: 'r',
        events: stamped([started(key), ...turn('t1')]),
      });
      await stored({ id: 'm1' });
      const wakes = await claim(4_000);
      expect(wakes).toHaveLength(2);
      await spaces().leave(KEY, BOT);
      await stores.log.beginDeletion({ ...key, runIds: [] });
      for (const wake of wakes)
        expect(await spaces().settleWake(wake, { position: 1, nowMs: 5_000 })).toBe(false);
      await spaces().putMessage(text('m2'));
      expect(await claim(99_000)).toEqual([]);
      expect(await spaces().members(KEY)).toHaveLength(1);
    });
  });
}
