/** The contract of every store of documents. `make` gives empty stores each time, of one database for all calls. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createDeletions } from '../../../../src/projection/duties/deletions.js';
import type { Json } from '../../../../src/protocol/values/json.js';
import type {
  DocumentStore,
  DocumentsKey,
} from '../../../../src/store/ports/documents/documents.js';
import type { EventLog } from '../../../../src/store/ports/log.js';
import { until } from '../../until.js';

interface Stores {
  readonly log: EventLog;
  readonly documents: DocumentStore;
}

const KEY: DocumentsKey = { tenant: 'default', kind: 'tools', owner: 'support' };

export function describeDocuments(name: string, opener: () => () => Promise<Stores>): void {
  describe(name, () => {
    let open: () => Promise<Stores>;
    let stores: Stores;
    beforeEach(async () => {
      open = opener();
      stores = await open();
    });
    afterEach(async () => {
      await stores.log.close();
    });

    const put = async (
      given: Readonly<Record<string, Json>>,
      { key = KEY, most = 10, nowMs = 1_000, to = stores.documents } = {},
    ) => {
      const documents = Object.entries(given).map(([name, document]) => ({ name, document }));
      return await to.put(key, { documents, most, nowMs });
    };
    const names = async (key = KEY, limit = 100) =>
      (await stores.documents.list(key, limit)).map((stored) => stored.name);

    it('keeps documents by name, in the order of names, with versions and times', async () => {
      expect(await stores.documents.list(KEY, 9)).toEqual([]);
      const evil = { 'a"\'': ['\u2028', '\0', null, 1.5, { b: '</script>' }] };
      const [stored] = (await put({ b: evil })) ?? [];
      expect(stored).toEqual({
        ...{
          name: 'b',
          version: 1,
          since: 1,
          document: evil,
          changedAt: '1970-01-01T00:00:01.000Z',
        },
      });
      await put({ a: 1, Z: 'z', ä: null });
      expect(await names()).toEqual(['Z', 'a', 'b', 'ä']);
      expect(await names(KEY, 2)).toEqual(['Z', 'a']);
      expect((await stores.documents.list(KEY, 9))[2]).toEqual(stored);
      expect(await stores.documents.get(KEY, 'b')).toEqual(stored);
      expect(await stores.documents.get(KEY, 'B')).toBeUndefined();
    });

    it('replaces a document by its name; no version comes twice, also after a deletion', async () => {
      const versions: number[] = [];
      for (let n = 1; n <= 6; n += 1) {
        const [stored] = (await put({ a: n }, { nowMs: n * 1_000 })) ?? [];
        versions.push(stored?.version ?? 0);
        expect(await stores.documents.list(KEY, 9)).toEqual([
          ...[{ ...stored, document: n, changedAt: new Date(n * 1_000).toISOString() }],
        ]);
        if (n % 2 === 0) expect(await stores.documents.delete(KEY, ['a', 'none'])).toEqual(['a']);
      }
      expect(versions).toEqual([...new Set(versions)].sort((one, other) => one - other));
      expect(await stores.documents.delete(KEY, ['a'])).toEqual([]);
      expect(await stores.documents.delete(KEY, [])).toEqual([]);
    });

    it('knows the first version of a name since there was none', async () => {
      const [first] = (await put({ a: 1 })) ?? [];
      const since = first?.version;
      await put({ b: 1 });
      expect(await put({ a: 2 })).toMatchObject([{ since }]);
      expect(await stores.documents.list(KEY, 1)).toMatchObject([{ since }]);
      await stores.documents.delete(KEY, ['a']);
      const [again] = (await put({ a: 3 })) ?? [];
      expect(again?.version).toBeGreaterThan(since ?? 0);
      expect(again?.since).toBe(again?.version);
    });

    it('bounds the documents of an owner; then it stores none of those given', async () => {
      await put({ a: 1, b: 1 }, { most: 3 });
      expect(await put({ a: 2, c: 2, d: 2 }, { most: 3 })).toBeUndefined();
      expect((await stores.documents.list(KEY, 9)).map(({ document }) => document)).toEqual([1, 1]);
      // One that is there takes no more room.
      expect(await put({ b: 2, c: 2 }, { most: 3 })).toHaveLength(2);
      expect(await put({ d: 1 }, { most: 3 })).toBeUndefined();
      expect(await stores.documents.delete(KEY, ['c', 'a'])).toEqual(['c', 'a']);
      expect(await put({ d: 1 }, { most: 3 })).toHaveLength(1);
      expect(await names()).toEqual(['b', 'd']);
    });

    it('stores none of the documents that are not accepted, judged with those that the owner has', async () => {
      await put({ a: 'old', b: 1 });
      const judged: unknown[] = [];
      const given = { most: 9, nowMs: 2_000, documents: [{ name: 'a', document: 'new' }] };
      const judge = async (accepts: boolean) =>
        await stores.documents.put(KEY, {
          ...given,
          accepts: (...shown) => {
            for (const documents of shown)
              judged.push(Object.fromEntries(documents.map((each) => [each.name, each.document])));
            return accepts;
          },
        });
      expect(await judge(false)).toBeUndefined();
      expect((await stores.documents.list(KEY, 9)).map(({ document }) => document)).toEqual([
        'old',
        1,
      ]);
      expect(await judge(true)).toMatchObject([{ name: 'a', document: 'new' }]);
      expect(judged).toEqual([
        { a: 'new', b: 1 },
        { a: 'old', b: 1 },
        { a: 'new', b: 1 },
        { a: 'old', b: 1 },
      ]);
    });

    it('deletes nothing between the judgement of a write and the write', async () => {
      const second = await open();
      await put({ z: 'old' });
      let deletion: Promise<unknown> | undefined;
      const first = Array.from({ length: 30 }, (_each, n) => ({ name: `a${n}`, document: n }));
      await stores.documents.put(KEY, {
        documents: [...first, { name: 'z', document: 'new' }],
        ...{ most: 100, nowMs: 2_000 },
        accepts: (_documents, before) => {
          setImmediate(() => {
            deletion = second.documents.delete(KEY, ['z']);
          });
          return before.some(({ name }) => name === 'z');
        },
      });
      await until('the deletion begins', () => deletion !== undefined);
      expect(await deletion).toEqual(['z']);
      expect(await names()).not.toContain('z');
      await second.log.close();
    });

    it('judges writers of several processes one after the other: together they pass no bound', async () => {
      const second = await open();
      const isShort = (documents: readonly { readonly document: Json }[]): boolean =>
        documents.reduce((sum, { document }) => sum + Number(document), 0) <= 10;
      const stored = await Promise.all(
        Array.from({ length: 12 }, async (_each, n) => {
          const to = n % 2 === 0 ? stores.documents : second.documents;
          const documents = [{ name: `n${n}`, document: 3 }];
          return await to.put(KEY, { documents, most: 100, accepts: isShort, nowMs: 1_000 });
        }),
      );
      expect(stored.filter((each) => each !== undefined)).toHaveLength(3);
      expect(await names()).toHaveLength(3);
      await second.log.close();
    });

    it('lists the owners that have documents of a kind, page by page, and no others', async () => {
      const own = ['Zoe', 'ann', 'bob', 'ö', '\u{1f600}'];
      for (const owner of own.toReversed()) await put({ a: 1, b: 2 }, { key: { ...KEY, owner } });
      await put({ a: 1 }, { key: { ...KEY, owner: 'other kind', kind: 'memory' } });
      await put({ a: 1 }, { key: { ...KEY, owner: 'other tenant', tenant: 'acme' } });
      const emptied = { ...KEY, owner: 'emptied' };
      await put({ a: 1 }, { key: emptied });
      await stores.documents.delete(emptied, ['a']);
      const of = { tenant: KEY.tenant, kind: KEY.kind };
      expect(await stores.documents.owners({ ...of, limit: 9 })).toEqual(own);
      expect(await stores.documents.owners({ ...of, limit: 2 })).toEqual(own.slice(0, 2));
      expect(await stores.documents.owners({ ...of, limit: 2, after: 'ann' })).toEqual(
        own.slice(2, 4),
      );
      expect(await stores.documents.owners({ ...of, limit: 2, after: own[4] })).toEqual([]);
    });

    it('shows the documents of an owner to no other owner, kind and tenant', async () => {
      await put({ a: 'own' });
      const others = [
        { ...KEY, tenant: 'acme' },
        { ...KEY, kind: 'memory' },
        { ...KEY, owner: 'sales' },
      ];
      for (const key of others) {
        expect(await names(key)).toEqual([]);
        expect(await stores.documents.get(key, 'a')).toBeUndefined();
        expect(await stores.documents.delete(key, ['a'])).toEqual([]);
        expect(await put({ a: 'other' }, { key, most: 1 })).toMatchObject([{ version: 1 }]);
      }
      expect(await stores.documents.list(KEY, 9)).toMatchObject([{ document: 'own' }]);
    });

    it('deletes all of a tenant, and nothing of another', async () => {
      const other = { ...KEY, tenant: 'acme' };
      await put({ a: 1, b: 1 });
      await put({ a: 1 }, { key: { ...KEY, kind: 'memory' } });
      await put({ a: 1 }, { key: other });
      await createDeletions(stores).removeOfTenant('default');
      expect(await names()).toEqual([]);
      expect(await names({ ...KEY, kind: 'memory' })).toEqual([]);
      expect(await stores.documents.removeOfTenant('default')).toBe(0);
      expect(await names(other)).toEqual(['a']);
    });

    it('writers of several processes lose nothing, repeat no version, and keep the bound', async () => {
      const second = await open();
      const writers = [stores.documents, second.documents];
      const stored = await Promise.all(
        Array.from({ length: 24 }, async (_each, n) => {
          const to = writers[n % 2] ?? stores.documents;
          return await put({ [`n${n % 12}`]: n }, { to, most: 8 });
        }),
      );
      const versions = stored.flatMap((each) => each ?? []).map(({ version }) => version);
      expect(new Set(versions).size).toBe(versions.length);
      expect(await names()).toHaveLength(8);
      await second.log.close();
    });
  });
}
