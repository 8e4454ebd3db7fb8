/** The contract of every store of spaces: spaces, members and messages. `make` gives empty stores each time. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createDeletions } from '../../../../src/projection/duties/deletions.js';
import { MAX_SPACE_MEMBERS } from '../../../../src/protocol/limits/service-limits.js';
import type { Space, SpaceMessage } from '../../../../src/protocol/spaces/spaces.js';
import type { SpaceStore } from '../../../../src/store/ports/spaces/spaces.js';
import { promise } from '../../promise.js';
import { ANN, BOB, BOT, KEY, makerOf, type SpaceStores, text, tool } from './samples.js';

export function describeSpaces(name: string, make: () => Promise<SpaceStores>): void {
  describe(name, () => {
    let stores: SpaceStores;
    beforeEach(async () => {
      stores = await make();
    });
    afterEach(async () => {
      await stores.log.close();
    });
    const spaces = () => stores.spaces;
    const { created, stored } = makerOf(spaces);

    it('creates a space with its first member; a repeat resolves as the first', async () => {
      const fields = { name: 'Support', metadata: { topic: ['a', 1] } };
      const space = await created(KEY, fields);
      expect(space).toEqual({
        ...{ id: 'room', tenant: 'default', access: 'invited', ...fields },
        ...{ createdBy: { kind: 'person', id: 'ann' }, createdAt: '1970-01-01T00:00:01.000Z' },
        ...{ lastPosition: 0, lastChange: 0 },
      });
      expect(await spaces().space(KEY)).toEqual(space);
      expect(await spaces().members(KEY)).toEqual([
        { ...ANN, name: 'Ann', joinedAt: '1970-01-01T00:00:01.000Z' },
      ]);
      await stored({ id: 'm1' });
      const again = { ...KEY, access: 'invited', ...fields, creator: ANN, nowMs: 9_000 } as const;
      expect(await spaces().create(again)).toMatchObject({
        outcome: 'repeated',
        space: { createdAt: space.createdAt, lastPosition: 1 },
      });
      expect(await spaces().create({ ...again, name: 'Other' })).toEqual({ outcome: 'reused' });
      expect(await spaces().create({ ...again, creator: BOB })).toEqual({ outcome: 'reused' });
    });

    it('lists spaces of a tenant and of a member, newest first, in pages', async () => {
      for (const spaceId of ['a', 'b', 'c']) await created({ ...KEY, spaceId });
      await created({ tenant: 'other', spaceId: 'd' });
      for (const spaceId of ['a', 'c'])
        await spaces().join({ ...KEY, spaceId, member: BOB, nowMs: 1 });
      const all = async (member?: typeof BOB, limit = 2): Promise<readonly string[]> => {
        const ids: string[] = [];
        for (let cursor: string | undefined; ; ) {
          const page = await spaces().list({ tenant: 'default', member, limit, cursor });
          expect(page.spaces.length).toBeLessThanOrEqual(limit);
          ids.push(...page.spaces.map(({ id }: Space) => id));
          cursor = page.nextCursor;
          if (cursor === undefined) return ids;
        }
      };
      expect(await all()).toEqual(['c', 'b', 'a']);
      expect(await all(BOB, 1)).toEqual(['c', 'a']);
      expect(await all({ kind: 'person', id: 'nobody' })).toEqual([]);
      const list = spaces().list({ tenant: 'default', limit: 1, cursor: 'x' });
      await expect(list).rejects.toThrow(RangeError);
    });

    it('has members by kind and id, in the order of joining', async () => {
      await created();
      const join = async (member: typeof BOB & { name?: string }) =>
        await spaces().join({ ...KEY, member, nowMs: 2_000 });
      expect(await join(BOT)).toEqual({
        outcome: 'joined',
        member: {
          ...BOT,
          ...{ conversationId: 'c-1', agent: 'bot', joinedAt: '1970-01-01T00:00:02.000Z' },
        },
      });
      expect(await join(BOB)).toMatchObject({ outcome: 'joined' });
      expect(await join({ ...BOB, name: 'Robert' })).toMatchObject({ outcome: 'repeated' });
      // The id of an agent as the id of a person is another member.
      const person = { kind: 'person', id: BOT.id } as const;
      expect(await spaces().isMember(KEY, person)).toBe(false);
      expect((await spaces().members(KEY)).map(({ id }) => id)).toEqual(['ann', BOT.id, 'bob']);
      expect(await spaces().isMember(KEY, BOB)).toBe(true);
      expect(await spaces().leave(KEY, BOB)).toBe(true);
      expect(await spaces().leave(KEY, BOB)).toBe(false);
      expect(await spaces().isMember(KEY, BOB)).toBe(false);
      expect(await spaces().join({ ...KEY, spaceId: 'none', member: BOB, nowMs: 1 })).toEqual({
        outcome: 'unknown_space',
      });
    });

    it('gives messages dense positions, and each change a number behind all others', async () => {
      await created();
      await stored({ id: 'm1', text: 'Hi \0 there', replyTo: undefined });
      await stored({ id: 'call', ...tool('running', { input: { amount: 1 } }) });
      await stored({ id: 'm2', replyTo: 'm1' });
      const done = await stored({
        id: 'call',
        nowMs: 7_000,
        ...tool('complete', { output: true }),
      });
      expect(done).toEqual({
        ...{ id: 'call', position: 2, change: 4, kind: 'tool', status: 'complete', text: '' },
        author: { ...ANN, name: 'Ann' },
        metadata: { toolName: 'refund', output: true },
        ...{ createdAt: '1970-01-01T00:00:03.000Z', changedAt: '1970-01-01T00:00:07.000Z' },
      });
      expect(await spaces().message(KEY, 'call')).toEqual(done);
      expect(await spaces().message(KEY, 'none')).toBeUndefined();
      expect(await spaces().space(KEY)).toMatchObject({ lastPosition: 3, lastChange: 4 });
      const of = (messages: readonly SpaceMessage[]) => messages.map(({ id }) => id);
      expect(of(await spaces().messages(KEY, { limit: 9 }))).toEqual(['m1', 'call', 'm2']);
      expect(of(await spaces().messages(KEY, { limit: 2 }))).toEqual(['call', 'm2']);
      expect(of(await spaces().messages(KEY, { limit: 1, before: 3 }))).toEqual(['call']);
      expect(of(await spaces().messages(KEY, { limit: 1, after: 1 }))).toEqual(['call']);
      expect(of(await spaces().changes(KEY, { after: 0, limit: 9 }))).toEqual(['m1', 'm2', 'call']);
      expect(of(await spaces().changes(KEY, { after: 1, limit: 1 }))).toEqual(['m2']);
      expect(await spaces().changes(KEY, { after: 4, limit: 9 })).toEqual([]);
      expect((await spaces().messages(KEY, { limit: 1, before: 2 }))[0]).toMatchObject({
        text: 'Hi \0 there',
      });
    });

    it('reads texts alone, or those of agents, in pages that others take no place of', async () => {
      await created();
      await spaces().join({ ...KEY, member: BOT, nowMs: 1 });
      for (let n = 1; n <= 4; n += 1) {
        await stored({ id: `call${n}`, ...tool('complete'), author: BOT });
        await stored({ id: `ann${n}` });
        await stored({ id: `other${n}`, ...tool('running') });
        await stored({ id: `bot${n}`, author: BOT });
      }
      const read = async (options: Parameters<SpaceStore['messages']>[1]) =>
        (await spaces().messages(KEY, options)).map(({ id }) => id);
      expect(await read({ only: 'texts', limit: 3 })).toEqual(['bot3', 'ann4', 'bot4']);
      expect(await read({ only: 'texts', limit: 3, before: 14 })).toEqual(['bot2', 'ann3', 'bot3']);
      expect(await read({ only: 'texts', limit: 2, after: 2 })).toEqual(['bot1', 'ann2']);
      const agents = { only: 'texts_of_agents' } as const;
      expect(await read({ ...agents, limit: 2 })).toEqual(['bot3', 'bot4']);
      expect(await read({ ...agents, limit: 2, before: 12 })).toEqual(['bot1', 'bot2']);
      expect(await read({ ...agents, limit: 1, after: 4 })).toEqual(['bot2']);
      expect(await spaces().messages({ ...KEY, tenant: 'other' }, { ...agents, limit: 9 })).toEqual(
        [],
      );
    });

    it('stores a repeat once, and refuses another content under its id', async () => {
      await created();
      await spaces().join({ ...KEY, member: BOB, nowMs: 1 });
      const first = await stored({ id: 'm1' });
      const put = async (changes: object) =>
        (await spaces().putMessage({ ...text('m1'), ...changes })).outcome;
      expect(await spaces().putMessage({ ...text('m1'), nowMs: 99 })).toEqual({
        outcome: 'repeated',
        message: first,
      });
      expect(await put({ text: 'other' })).toBe('reused');
      expect(await put({ author: BOB })).toBe('reused');
      expect(await put(tool('running'))).toBe('reused');
      expect(await put({ metadata: { a: 1 } })).toBe('reused');
      // Also after the author has left.
      await spaces().leave(KEY, ANN);
      expect(await put({})).toBe('repeated');
      expect(await put({ id: 'm2' })).toBe('not_a_member');
      expect(await put({ id: 'm3', author: BOB, replyTo: 'none' })).toBe('unknown_reply');
      expect(await put({ spaceId: 'none' })).toBe('unknown_space');
      expect(await spaces().space(KEY)).toMatchObject({ lastPosition: 1, lastChange: 1 });
    });

    it.each(['complete', 'error'] as const)(
      'moves a call between its statuses until it is %s, also after its author has left',
      promise('G366'),
      async (end) => {
        await created();
        const put = async (...given: Parameters<typeof tool>) =>
          (await spaces().putMessage({ ...text('call'), ...tool(...given) })).outcome;
        expect(await put('running')).toBe('stored');
        expect(await put('requires_action')).toBe('changed');
        await spaces().leave(KEY, ANN);
        expect(await put('running', { step: 2 })).toBe('changed');
        expect(await put('running', { step: 2 })).toBe('repeated');
        expect(await put(end, { output: 1 })).toBe('changed');
        for (const status of ['running', 'requires_action', 'complete', 'error'] as const)
          expect(await put(status, { late: true })).toBe('repeated');
        expect(await spaces().message(KEY, 'call')).toMatchObject({
          ...{ status: end, change: 4, position: 1, metadata: { output: 1 } },
        });
      },
    );

    it(
      'finds the spaces of a call by its id, also after its author has left',
      promise('G402'),
      async () => {
        const other = { ...KEY, spaceId: 'other' };
        const there = { ...KEY, tenant: 'other' };
        for (const key of [KEY, other, there]) await created(key);
        const call = { author: ANN, ...tool('running'), callId: 'call_1' };
        await stored({ id: 'm1', ...call });
        await stored({ id: 'm2', ...call, ...other });
        await stored({ id: 'm3', ...call, callId: 'call_2' });
        await stored({ id: 'm4', ...call, callId: undefined });
        await stored({ id: 'm1', ...call, ...tool('complete') });
        const of = async (callId: string, tenant = KEY.tenant) =>
          await spaces().spacesOfCall({ tenant, callId });
        for (const hasLeft of [false, true]) {
          if (hasLeft) await spaces().leave(KEY, ANN);
          const both = await of('call_1');
          expect(both).toHaveLength(2);
          expect(both).toEqual(expect.arrayContaining([KEY, other]));
          expect(await of('call_2')).toEqual([KEY]);
        }
        expect(await of('call_1', there.tenant)).toEqual([]);
        expect(await of('call_3')).toEqual([]);
        await spaces().remove(other);
        expect(await of('call_1')).toEqual([KEY]);
      },
    );

    it('refuses a reply to a call', promise('H50'), async () => {
      await created();
      await stored({ id: 'call', ...tool('complete') });
      expect(await spaces().putMessage({ ...text('m1'), replyTo: 'call' })).toEqual({
        outcome: 'unknown_reply',
      });
    });

    it('keeps tenants apart, also under equal ids', promise('G365'), async () => {
      const there = { ...KEY, tenant: 'other' };
      await created();
      await created(there);
      await stored({ id: 'm1' });
      expect(await spaces().messages(there, { limit: 9 })).toEqual([]);
      expect(await spaces().changes(there, { after: 0, limit: 9 })).toEqual([]);
      expect(await spaces().message(there, 'm1')).toBeUndefined();
      await spaces().leave(there, ANN);
      expect(await spaces().isMember(KEY, ANN)).toBe(true);
      await stored({ id: 'm2' });
      expect(await spaces().heads([there, KEY, { ...KEY, spaceId: 'none' }])).toEqual(
        expect.arrayContaining([
          { ...there, lastChange: 0, membersVersion: 2 },
          { ...KEY, lastChange: 2, membersVersion: 1 },
        ]),
      );
      expect(await spaces().remove(there)).toBe(true);
      expect(await spaces().space(KEY)).toMatchObject({ lastPosition: 2 });
    });

    it('has another version of its members once the conversation of one is deleted', async () => {
      const other = { ...KEY, spaceId: 'other' };
      for (const key of [KEY, other]) await created(key);
      await spaces().join({ ...KEY, member: BOT, nowMs: 1 });
      const versions = async (): Promise<readonly (number | undefined)[]> => {
        const heads = await spaces().heads([KEY, other]);
        const of = (id: string) => heads.find(({ spaceId }) => spaceId === id)?.membersVersion;
        return [of(KEY.spaceId), of('other')];
      };
      expect(await versions()).toEqual([2, 1]);
      await stores.log.beginDeletion({ tenant: 'default', conversationId: 'c-1', runIds: [] });
      expect(await versions()).toEqual([3, 1]);
      expect(await spaces().members(KEY)).toHaveLength(1);
    });

    it('removes a space, and the spaces of a tenant, with all rows', async () => {
      await created();
      await stored({ id: 'm1' });
      expect(await spaces().remove(KEY)).toBe(true);
      expect(await spaces().remove(KEY)).toBe(false);
      expect(await spaces().space(KEY)).toBeUndefined();
      expect(await spaces().messages(KEY, { limit: 9 })).toEqual([]);
      expect(await spaces().members(KEY)).toEqual([]);
      await created();
      await created({ ...KEY, spaceId: 'second' });
      await created({ tenant: 'other', spaceId: 'kept' });
      const deletions = createDeletions(stores);
      await deletions.removeOfTenant('default');
      expect(await spaces().space(KEY)).toBeUndefined();
      expect(await spaces().list({ tenant: 'default', limit: 9 })).toEqual({ spaces: [] });
      expect(await spaces().removeOfTenant('default')).toBe(0);
      expect(await spaces().space({ tenant: 'other', spaceId: 'kept' })).toBeDefined();
    });

    it('bounds the members of a space', promise('G365'), async () => {
      await created();
      const join = async (n: number) =>
        await spaces().join({ ...KEY, member: { kind: 'person', id: `p${n}` }, nowMs: 1 });
      for (let n = 1; n < MAX_SPACE_MEMBERS; n += 1) expect((await join(n)).outcome).toBe('joined');
      expect(await join(0)).toEqual({ outcome: 'full' });
      expect((await join(1)).outcome).toBe('repeated');
      expect(await spaces().members(KEY)).toHaveLength(MAX_SPACE_MEMBERS);
      await spaces().leave(KEY, ANN);
      expect((await join(0)).outcome).toBe('joined');
    });
  });
}
