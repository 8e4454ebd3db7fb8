/** How readers of the stream of a tenant's conversations share the reads of the store. */
import { describe, expect, it } from 'vitest';
import { pass, setUp, take } from '../../../support/networks/followed-lists.js';
import { promise } from '../../../support/promise.js';
import { turn } from '../../../support/samples/log-events.js';
import { until } from '../../../support/until.js';

describe('many readers', () => {
  it(
    'of one tenant cost as many reads as one, and none of their own',
    promise('G364'),
    async () => {
      const { open, add, counts } = await setUp();
      const readers = (await Promise.all(Array.from({ length: 100 }, () => open()))).map(take);
      expect(counts.changes).toBeLessThan(4);
      await until('ready', () => readers.every(({ told }) => told.length > 0));
      const before = counts.changes;
      const began = performance.now();
      for (const id of ['a', 'b', 'c']) await add(id);
      await until('all', () => readers.every(({ told }) => told.length === 4));
      expect(counts.listedIn).toBeLessThan(4);
      expect(counts.rows).toBe(3);
      expect(counts.changes - before).toBeLessThan(3 + (performance.now() - began) / 900);
    },
  );

  it('of many tenants share one poll', promise('G364'), async () => {
    const { open, add, counts } = await setUp();
    const tenants = Array.from({ length: 50 }, (_, nth) => `t-${nth}`);
    const readers = await Promise.all(tenants.map(async (tenant) => take(await open({ tenant }))));
    await until('ready', () => readers.every(({ told }) => told.length > 0));
    const before = counts.changes;
    const began = performance.now();
    for (const tenant of tenants) await add('a', turn('t'), tenant);
    await until('all', () => readers.every(({ told }) => told.length === 2));
    expect(counts.changes - before).toBeLessThan(3 + (performance.now() - began) / 900);
  });

  it('see a change that a poll finds while a row is read', {
    ...promise('G364'),
  }, async () => {
    // A read begins, a change is stored and found by a poll, and the read ends with the row as it was before.
    let release: (() => void) | undefined;
    let isHeld = false;
    const { open, add, hint, counts } = await setUp({
      hints: true,
      reads: (log) => ({
        listedIn: async (tenant, ids) => {
          const rows = await log.listedIn(tenant, ids);
          if (isHeld) await new Promise<void>((resolve) => (release = resolve));
          return rows;
        },
      }),
    });
    const reader = take(await open());
    await until('ready', () => reader.told.length > 0);
    isHeld = true;
    await add('a');
    hint('a');
    await until('the read has begun', () => release !== undefined);
    await add('a', turn('t2'));
    await pass(counts);
    isHeld = false;
    release?.();
    await until('the later row', () => reader.told.includes('a idle 11'));
  });

  it('wait while the store is away, miss nothing, and are refused until it comes back', {
    ...promise('G364'),
  }, async () => {
    let isAway = false;
    const refuse = (): void => {
      if (isAway) throw new Error('the store is away');
    };
    const { open, add, end } = await setUp({
      reads: (log) => ({
        changes: async (of) => {
          refuse();
          return await log.changes(of);
        },
        listedIn: async (tenant, ids) => {
          refuse();
          return await log.listedIn(tenant, ids);
        },
      }),
    });
    const reader = take(await open());
    isAway = true;
    await add('a');
    await expect(open({ tenant: 'acme' })).rejects.toThrow('the store is away');
    await expect(open({}, 't-1700000000000')).rejects.toThrow('the store is away');
    isAway = false;
    await until('the change', () => reader.told.includes('a idle 6'));
    const other = take(await open({ tenant: 'acme' }));
    await until('ready', () => other.told.length === 1);
    end.abort();
  });

  it('get a place now and then while nothing changes', async () => {
    const { open } = await setUp({ options: { placeMs: 500 } });
    const reader = take(await open());
    await until('places', () => reader.seen.length > 2);
    expect(reader.seen.map(({ type }) => type).slice(0, 3)).toEqual(['ready', 'place', 'place']);
    const ids = reader.seen.map(({ id }) => Number(id?.slice(2)));
    expect(ids).toEqual([...ids].sort());
  });
});
