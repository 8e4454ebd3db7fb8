/** `colloquy.spaces`: spaces for the code of an application. */
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { report } from '../../../examples/uses/report-to-a-space.js';
import { SpaceClient } from '../../../src/spaces/client.js';
import { Spaces } from '../../../src/spaces/service.js';
import { openSqliteStores } from '../../../src/store/sqlite/event-log.js';
import { promise } from '../../support/promise.js';

let spaces: Spaces;
let client: SpaceClient;
beforeEach(async () => {
  const { spaces: store, log } = await openSqliteStores({ file: ':memory:' });
  onTestFinished(() => log.close());
  const agents = (asked: object) => {
    expect(asked).toMatchObject({ tenant: 'acme', name: expect.any(String) as string });
    return Promise.resolve([{ name: 'support', description: '' }] as never);
  };
  spaces = new Spaces({ store, agents });
  client = new SpaceClient(spaces, { actor: { id: 'nightly-job', name: 'Job' }, tenant: 'acme' });
});

const failed = (code: string, message: RegExp) => ({
  code,
  message: expect.stringMatching(message) as string,
});

it('a job creates a space, adds members and writes, and its repeats change nothing', async () => {
  for (let attempt = 1; attempt <= 2; attempt += 1) {
    const space = await client.create({ name: 'Refunds', requestId: 'refunds-1' });
    await space.add({ conversationId: 'desk-1', agent: 'support' });
    await space.add({ id: 'bob', name: 'Bob' });
    const sent = await space.send('Order 42 was never delivered', { requestId: 'm-1' });
    expect(sent).toMatchObject({ position: 1, author: { kind: 'person', id: 'nightly-job' } });
    expect((await space.members()).map(({ id }) => id)).toEqual([
      'nightly-job',
      'desk-1~support',
      'bob',
    ]);
    expect((await space.messages()).messages).toHaveLength(1);
    expect(await space.get()).toMatchObject({ name: 'Refunds', tenant: 'acme' });
  }
  expect((await client.list()).spaces).toHaveLength(1);
});

it('the example: a job that runs twice for a night leaves one space with one text', async () => {
  const text = await report(client, 'monday');
  expect(await report(client, 'monday')).toEqual(text);
  const { spaces: found } = await client.list();
  expect(found).toMatchObject([{ name: 'Refunds of monday', lastPosition: 1 }]);
  const members = await client.space(found[0]?.id ?? '').members();
  expect(members.map(({ id }) => id)).toEqual(['nightly-job', 'ann', 'refunds-monday~support']);
});

it('another actor reads every space of the tenant, and joins it to write', async () => {
  const { id } = await client.create({ name: 'Refunds' });
  const other = client.space(id, { actor: { id: 'audit' } });
  await expect(other.send('Why?')).rejects.toMatchObject(failed('not_a_member', /join/));
  expect((await client.list({ of: 'actor', actor: { id: 'audit' } })).spaces).toEqual([]);
  await other.join();
  await other.send('Why?');
  expect((await other.messages({ limit: 1 })).messages).toMatchObject([{ text: 'Why?' }]);
  expect(await other.remove()).toBe(true);
  expect(await other.remove({ id: 'audit' })).toBe(false);
});

it('bad input, other tenants and deleted spaces are refused by name', async () => {
  const space = await client.create({ name: 'Refunds' });
  await expect(client.create({ name: '' })).rejects.toMatchObject(
    failed('invalid_request', /name/),
  );
  await expect(space.send('')).rejects.toMatchObject(failed('invalid_request', /text/));
  await expect(space.add({ conversationId: 'c-1', agent: 'nobody' })).rejects.toMatchObject(
    failed('unknown_agent', /nobody/),
  );
  const elsewhere = client.space(space.id, { tenant: 'other' });
  await expect(elsewhere.get()).rejects.toMatchObject(failed('unknown_space', /sp_/));
  await space.delete();
  await expect(space.messages()).rejects.toMatchObject(failed('unknown_space', /sp_/));
  expect(() => new SpaceClient(spaces, {}).space('sp_1')).toThrow(/actor is missing/);
});

type Refused = readonly [field: string, run: (id: string) => Promise<unknown>];
const odd = (value: unknown): never => value as never;

it.each<Refused>([
  ['', () => client.create(odd(null))],
  ['/name', () => client.create(odd({}))],
  ['/name', () => client.create({ name: 'x'.repeat(201) })],
  ['/access', () => client.create({ name: 'Room', access: odd('all') })],
  ['/metadata', () => client.create({ name: 'Room', metadata: odd([]) })],
  ['/requestId', () => client.create({ name: 'Room', requestId: '' })],
  ['/tenant', () => client.list({ tenant: 'a/b' })],
  ['/actor/id', () => client.list({ actor: { id: '' } })],
  ['/actor/name', () => client.list({ actor: { id: 'job', name: odd(7) } })],
  ['/limit', () => client.list({ limit: 0 })],
  ['/limit', () => client.list({ limit: 101 })],
  ['/cursor', () => client.list({ cursor: "1' OR 1" })],
  ['/cursor', () => client.list({ cursor: odd(5) })],
  ['/of', () => client.list({ of: odd('everyone') })],
  ['/limit', (id) => client.space(id).messages({ limit: 1.5 })],
  ['/before', (id) => client.space(id).messages({ before: -1 })],
  ['/offset', (id) => client.space(id).messages({ offset: odd('3') })],
  ['/after', (id) => client.space(id).messages({ before: 2, after: 1 })],
  ['/member', (id) => client.space(id).add(odd('ann'))],
  ['/id', (id) => client.space(id).add({ id: 'a\0' })],
  ['/id', (id) => client.space(id).add(odd({ name: 'Ann' }))],
  ['/name', (id) => client.space(id).add({ id: 'a', name: odd(7) })],
  ['/name', (id) => client.space(id).add({ id: 'a', name: '\ud800' })],
  ['/conversationId', (id) => client.space(id).add({ conversationId: 'a~b', agent: 'support' })],
  ['/agent', (id) => client.space(id).remove({ conversationId: 'a', agent: odd(undefined) })],
  ['/text', (id) => client.space(id).send(odd(7))],
  ['/replyTo', (id) => client.space(id).send('hi', { replyTo: 'msg_none' })],
  ['/requestId', (id) => client.space(id).send('hi', { requestId: odd(5) })],
])(
  'a faulty request of a program without types is refused by its field: %s (row %$)',
  async (field, run) => {
    const { id } = await client.create({ name: 'Room' });
    const problems = [expect.objectContaining({ path: field }) as unknown];
    await expect(run(id)).rejects.toMatchObject({ code: 'invalid_request', problems });
    expect(await client.space(id).get()).toMatchObject({ lastPosition: 0 });
  },
);

it('an absent option is as one that is left out', async () => {
  const space = await client.create({ name: 'Room', requestId: undefined });
  const absent = { limit: undefined, before: undefined, cursor: undefined, of: undefined };
  expect((await client.list(absent)).spaces).toHaveLength(1);
  expect((await space.messages(odd(absent))).messages).toEqual([]);
});

it('a job reads as its actor, whose marks are in the space and in the list of its spaces', {
  ...promise('G419'),
}, async () => {
  const space = await client.create({ name: 'Refunds' });
  await space.add({ id: 'bob' });
  const { id } = await space.send('Order 42 was never delivered');
  await space.send('Nor was order 43');
  const bob = { actor: { id: 'bob' } };
  const asBob = client.space(space.id, bob);
  expect(await asBob.read(id)).toEqual({ readPosition: 1, unread: 1 });
  expect(await asBob.get()).toMatchObject({ unread: 1 });
  expect((await client.list({ of: 'actor', ...bob })).spaces).toMatchObject([{ unread: 1 }]);
  const other = client.space(space.id, { actor: { id: 'audit' } });
  await expect(other.read(id)).rejects.toMatchObject(failed('not_a_member', /join/));
  await expect(asBob.read(7 as never)).rejects.toMatchObject(
    failed('invalid_request', /messageId/),
  );
});
