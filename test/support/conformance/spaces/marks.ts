/** The contract of every store of spaces: how far members have read. `make` gives empty stores each time. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { MemberRef } from '../../../../src/protocol/spaces/spaces.js';
import { promise } from '../../promise.js';
import { ANN, BOB, BOT, KEY, makerOf, type SpaceStores, tool } from './samples.js';

export function describeReadMarks(name: string, make: () => Promise<SpaceStores>): void {
  describe(name, promise('G419', '2.H.3'), () => {
    let stores: SpaceStores;
    beforeEach(async () => {
      stores = await make();
    });
    afterEach(async () => {
      await stores.log.close();
    });
    const { created, stored } = makerOf(() => stores.spaces);
    const join = async (member: MemberRef, key = KEY) =>
      await stores.spaces.join({ ...key, member, nowMs: 1 });
    const read = async (messageId: string, member = BOB) =>
      await stores.spaces.markRead({ ...KEY, member, messageId });
    /** The spaces of a member with its marks. */
    const listed = async (member = BOB) => {
      const { spaces } = await stores.spaces.list({ tenant: 'default', member, limit: 10 });
      return spaces.map(({ id, readPosition, unread }) => ({ id, readPosition, unread }));
    };

    it('moves the mark of one member up to a message, and never back', async () => {
      await created();
      await join(BOB);
      for (const id of ['m1', 'm2', 'm3']) await stored({ id });
      expect(await listed()).toEqual([{ id: 'room', readPosition: 0, unread: 3 }]);
      const mark = { readPosition: 2, unread: 1 };
      expect(await read('m2')).toEqual({ outcome: 'moved', mark });
      expect(await read('m2')).toEqual({ outcome: 'kept', mark });
      expect(await read('m1')).toEqual({ outcome: 'kept', mark });
      expect(await listed()).toEqual([{ id: 'room', ...mark }]);
      expect(await stores.spaces.readPosition(KEY, BOB)).toBe(2);
      expect(await read('m3')).toMatchObject({ outcome: 'moved', mark: { unread: 0 } });
      await stored({ id: 'm4' });
      expect(await listed()).toEqual([{ id: 'room', readPosition: 3, unread: 1 }]);
    });

    it('counts messages before the joining, and before the own text, as read', async () => {
      await created();
      await stored({ id: 'm1' });
      await join(BOB);
      expect(await listed()).toEqual([{ id: 'room', readPosition: 1, unread: 0 }]);
      await stored({ id: 'm2' });
      await stored({ id: 'c1', ...tool('running') });
      expect(await listed()).toEqual([{ id: 'room', readPosition: 1, unread: 2 }]);
      // A call that moves on is no new message.
      await stored({ id: 'c1', ...tool('complete') });
      expect(await listed()).toMatchObject([{ unread: 2 }]);
      await stored({ id: 'm3', author: BOB });
      expect(await listed()).toEqual([{ id: 'room', readPosition: 4, unread: 0 }]);
      // The shown calls of a member say nothing about what it has read.
      await stored({ id: 'm5' });
      await stored({ id: 'c2', author: BOB, ...tool('running') });
      expect(await listed()).toMatchObject([{ readPosition: 4, unread: 2 }]);
      expect(await listed(ANN)).toMatchObject([{ readPosition: 5, unread: 1 }]);
    });

    it('has marks of members alone, and of messages of the space alone', async () => {
      await created();
      await created({ ...KEY, spaceId: 'other' });
      await stored({ id: 'm1' });
      await stored({ id: 'o1', spaceId: 'other' });
      expect(await read('m1')).toEqual({ outcome: 'not_a_member' });
      expect(await read('none')).toEqual({ outcome: 'not_a_member' });
      expect(await stores.spaces.readPosition(KEY, BOB)).toBeUndefined();
      await join(BOB);
      expect(await read('o1')).toEqual({ outcome: 'unknown_message' });
      expect(await read('none')).toEqual({ outcome: 'unknown_message' });
      expect(await stores.spaces.readPosition({ ...KEY, tenant: 'beta' }, BOB)).toBeUndefined();
      // All spaces of a tenant, and those of an agent, are listed without marks.
      await join(BOT);
      const all = await stores.spaces.list({ tenant: 'default', limit: 10 });
      const of = await stores.spaces.list({ tenant: 'default', member: BOT, limit: 10 });
      for (const space of [...all.spaces, ...of.spaces])
        expect(space).not.toHaveProperty('readPosition');
    });

    it('keeps the further of two marks at once', async () => {
      await created();
      await join(BOB);
      const ids = Array.from({ length: 12 }, (_, nth) => `m${nth + 1}`);
      for (const id of ids) await stored({ id });
      await Promise.all([...ids].reverse().map((id) => read(id)));
      expect(await stores.spaces.readPosition(KEY, BOB)).toBe(12);
    });

    it('has one of several marks at once that moves it, where they are of the same message', async () => {
      await created();
      await join(BOB);
      for (let nth = 1; nth <= 10; nth += 1) {
        await stored({ id: `m${nth}` });
        const marks = await Promise.all(Array.from({ length: 4 }, () => read(`m${nth}`)));
        expect(marks.map(({ outcome }) => outcome).toSorted()).toEqual([
          ...['kept', 'kept', 'kept', 'moved'],
        ]);
        for (const mark of marks) expect(mark).toMatchObject({ mark: { readPosition: nth } });
      }
    });

    it('forgets the mark with the membership, the space and the tenant', async () => {
      await created();
      await join(BOB);
      await stored({ id: 'm1' });
      await read('m1');
      await stored({ id: 'm2' });
      await stores.spaces.leave(KEY, BOB);
      expect(await stores.spaces.readPosition(KEY, BOB)).toBeUndefined();
      await join(BOB);
      expect(await stores.spaces.readPosition(KEY, BOB)).toBe(2);
      await stores.spaces.remove(KEY);
      expect(await stores.spaces.readPosition(KEY, BOB)).toBeUndefined();
      await created();
      await stored({ id: 'm1' });
      await stores.spaces.removeOfTenant('default');
      expect(await stores.spaces.readPosition(KEY, ANN)).toBeUndefined();
      expect(await listed(ANN)).toEqual([]);
    });
  });
}
