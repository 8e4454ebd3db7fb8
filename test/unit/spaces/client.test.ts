/** `colloquy.spaces`: spaces for the code of an application. */
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { SpaceClient } from '../../../src/spaces/client.js';
import { Spaces } from '../../../src/spaces/service.js';
import { openSqliteStores } from '../../../src/store/sqlite/event-log.js';

let spaces: Spaces;
let client: SpaceClient;
beforeEach(async () => {
  const { spaces: store, log } = await openSqliteStores({ file: ':memory:' });
  onTestFinished(() => log.close());
  const agents = () => Promise.resolve([{ name: 'support', description: '' }] as never);
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
