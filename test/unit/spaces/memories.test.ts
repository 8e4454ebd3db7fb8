/** `colloquy.memories`: what agents remember by entity, for the code of an application. */
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { createDeletions } from '../../../src/projection/duties/deletions.js';
import { type EntityNotes, MemoryClient } from '../../../src/spaces/memories.js';
import { memoryIn } from '../../../src/spaces/plugin/memory.js';
import { openSqliteStores } from '../../../src/store/sqlite/event-log.js';
import { promise } from '../../support/promise.js';

type Stores = Awaited<ReturnType<typeof openSqliteStores>>;

let stores: Stores;
let client: MemoryClient;
beforeEach(async () => {
  stores = await openSqliteStores({ file: ':memory:' });
  onTestFinished(() => stores.log.close());
  client = new MemoryClient(stores.documents, {});
});

const AT = '2026-01-01T00:00:00.000Z';

async function remember(entity: string, key: string, tenant = 'default'): Promise<EntityNotes> {
  const goals = { g1: { description: 'Ship it', status: 'active', at: AT } };
  const notes = { goals, memories: { [key]: { value: 'yes', at: AT } } };
  await memoryIn(stores.documents).put({ tenant, entity }, notes, () => undefined);
  return { entity, ...notes };
}

async function all(notes: AsyncIterable<EntityNotes>): Promise<readonly EntityNotes[]> {
  const found: EntityNotes[] = [];
  for await (const each of notes) found.push(each);
  return found;
}

it('lists the entities of a tenant page by page, with the notes of each', async () => {
  const bob = await remember('bob', 'tea');
  await remember('ann', 'coffee');
  await remember('cy', 'tea');
  await remember('eve', 'tea', 'acme');
  const first = await client.list({ limit: 2 });
  expect(first).toEqual({ entities: ['ann', 'bob'], nextCursor: 'bob' });
  expect(await client.list({ limit: 2, cursor: first.nextCursor })).toEqual({ entities: ['cy'] });
  expect(await client.list({ limit: 3 })).toEqual({ entities: ['ann', 'bob', 'cy'] });
  expect(await client.get('bob')).toEqual(bob);
  expect(await client.get('eve')).toEqual({ entity: 'eve', goals: {}, memories: {} });
});

it('exports every entity of a tenant and none of another; after the tenant is deleted, none', {
  ...promise('G413'),
}, async () => {
  const kept: EntityNotes[] = [];
  for (let n = 100; n < 305; n += 1) kept.push(await remember(`e${n}`, 'tea'));
  const eve = await remember('eve', 'tea', 'acme');
  expect(await all(client.export())).toEqual(kept);
  expect(await all(client.export({ tenant: 'acme' }))).toEqual([eve]);
  await createDeletions(stores).removeOfTenant('default');
  expect(await all(client.export())).toEqual([]);
  expect(await all(new MemoryClient(stores.documents, { tenant: 'acme' }).export())).toEqual([eve]);
});

it('deletes what is remembered of an entity, and nothing of others', promise('G413'), async () => {
  const bob = await remember('bob', 'tea');
  await remember('ann', 'tea');
  expect(await client.delete('ann', { tenant: 'acme' })).toBe(0);
  expect(await client.delete('ann')).toBe(2);
  expect(await client.delete('ann')).toBe(0);
  expect(await all(client.export())).toEqual([bob]);
});

it('deletes what is kept in a form that it does not read, and any number of notes', async () => {
  const key = { tenant: 'default', kind: 'agent.memory', owner: 'ann' };
  const documents = Array.from({ length: 150 }, (_each, n) => ({ name: `n${n}`, document: n }));
  await stores.documents.put(key, { documents, most: 200, nowMs: 0 });
  expect(await client.get('ann')).toEqual({ entity: 'ann', goals: {}, memories: {} });
  expect(await client.delete('ann')).toBe(150);
  expect(await client.list()).toEqual({ entities: [] });
});

const odd = (value: unknown): never => value as never;

it.each<readonly [field: string, run: () => Promise<unknown>]>([
  ['/limit', () => client.list({ limit: 0 })],
  ['/limit', () => client.list({ limit: 101 })],
  ['/limit', () => client.list({ limit: odd('9') })],
  ['/cursor', () => client.list({ cursor: '' })],
  ['/cursor', () => client.list({ cursor: odd({}) })],
  ['/tenant', () => client.list({ tenant: '' })],
  ['/tenant', () => client.get('ann', { tenant: 'a b' })],
  ['/tenant', () => all(client.export({ tenant: odd(null) }))],
  ['/entity', () => client.get('')],
  ['/entity', () => client.get('x'.repeat(201))],
  ['/entity', () => client.get('a\0')],
  ['/entity', () => client.delete(odd(undefined))],
])('a faulty request is refused by its field: %s (row %$)', async (field, run) => {
  const problems = [expect.objectContaining({ path: field }) as unknown];
  await expect(run()).rejects.toMatchObject({ code: 'invalid_request', problems });
});
