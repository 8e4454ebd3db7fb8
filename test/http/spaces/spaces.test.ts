/** The routes of spaces and their members, over a store in memory. */
import { expect, it } from 'vitest';
import { promise } from '../../support/promise.js';
import { problemOf } from '../../support/samples/problems.js';
import { type Json, spacesApp } from '../../support/spaces/spaces-app.js';

it('creates, lists and deletes spaces of the caller; a repeat under a key is one request', async () => {
  const { as } = await spacesApp();
  const ann = as('ann');
  const body = { name: 'Refunds', metadata: { team: 'support' } };
  const space = await ann.created(body, 'k1');
  expect(space).toMatchObject({
    ...{ id: expect.stringMatching(/^sp_[0-9a-f]{24}$/) as string, tenant: 'default' },
    ...{ ...body, access: 'invited', createdBy: { kind: 'person', id: 'ann' }, lastPosition: 0 },
  });
  expect(await ann.created(body, 'k1')).toEqual(space);
  const other = await ann.post(
    '/v1/spaces',
    { ...body, name: 'Other' },
    { 'idempotency-key': 'k1' },
  );
  expect(await problemOf(other)).toMatchObject({ status: 422, errors: [{ path: '/requestId' }] });
  // The key of another caller is another request.
  expect((await as('bob').created(body, 'k1')).id).not.toBe(space.id);
  const second = await ann.created({ name: 'Second' });
  expect(second.id).not.toBe((await ann.created({ name: 'Second' })).id);
  const page = await ann.json('/v1/spaces?limit=2');
  expect(page).toMatchObject({ spaces: [{ name: 'Second' }, { name: 'Second' }] });
  const rest = await ann.json(`/v1/spaces?limit=2&cursor=${String(page['nextCursor'])}`);
  expect(rest).toEqual({ spaces: [space] });
  expect(await ann.json(`/v1/spaces/${space.id}`)).toEqual(space);
  const removed = await ann.request(`/v1/spaces/${space.id}`, { method: 'DELETE' });
  expect(await removed.json()).toEqual({ removed: true, spaceId: space.id });
  expect(await problemOf(await ann.request(`/v1/spaces/${space.id}`))).toMatchObject({
    code: 'unknown_space',
  });
});

it('members add people and agents; they leave, and an admin removes others', async () => {
  const { as } = await spacesApp();
  const [ann, bob, admin] = [as('ann'), as('bob'), as('admin')];
  const { id } = await ann.created({ name: 'Room' });
  const members = `/v1/spaces/${id}/members`;
  expect(await ann.posted(members, { member: { kind: 'person', id: 'bob', name: 'Bob' } })).toEqual(
    expect.objectContaining({ kind: 'person', id: 'bob', name: 'Bob' }),
  );
  const agent = { kind: 'agent', conversationId: 'c-1', agent: 'support' };
  expect(await bob.posted(members, { member: agent })).toMatchObject({
    ...agent,
    id: 'c-1~support',
  });
  const list = (await bob.json(members)) as { members: readonly Json[] };
  expect(list.members.map((member) => member['id'])).toEqual(['ann', 'bob', 'c-1~support']);
  const remove = async (caller: typeof ann, path: string) =>
    await caller.request(`${members}/${path}`, { method: 'DELETE' });
  expect(await problemOf(await remove(bob, 'person/ann'))).toMatchObject({ code: 'forbidden' });
  expect(await problemOf(await remove(bob, 'robot/ann'))).toMatchObject({ code: 'not_found' });
  expect(await (await remove(bob, 'agent/c-1~support')).json()).toEqual({ removed: true });
  expect(await (await remove(bob, 'agent/c-1~support')).json()).toEqual({ removed: false });
  expect(await (await remove(bob, 'person/bob')).json()).toEqual({ removed: true });
  expect(await problemOf(await bob.request(members))).toMatchObject({ code: 'unknown_space' });
  expect(await (await remove(admin, 'person/ann')).json()).toEqual({ removed: true });
  expect(await admin.json(members)).toEqual({ members: [] });
});

it(
  'an open space is joined by any caller of the tenant that has its id',
  promise('G365'),
  async () => {
    const { as } = await spacesApp();
    const [ann, bob] = [as('ann'), as('bob')];
    const open = `/v1/spaces/${(await ann.created({ name: 'Open', access: 'open' })).id}`;
    const closed = `/v1/spaces/${(await ann.created({ name: 'Closed' })).id}`;
    expect(await problemOf(await bob.post(`${closed}/members`, {}))).toMatchObject({
      code: 'unknown_space',
    });
    // Nothing is seen before.
    expect((await bob.request(open)).status).toBe(404);
    const eve = { member: { kind: 'person', id: 'eve' } };
    expect((await bob.post(`${open}/members`, eve)).status).toBe(404);
    for (let attempt = 0; attempt < 2; attempt += 1)
      expect(await bob.posted(`${open}/members`, {})).toMatchObject({ id: 'bob', name: 'Bob' });
    expect(await bob.json(open)).toMatchObject({ name: 'Open' });
  },
);

it(
  'to callers that are no members, and to other tenants, a space does not exist',
  promise('G365'),
  async () => {
    const { as } = await spacesApp();
    const ann = as('ann');
    const { id } = await ann.created({ name: 'secret-name' });
    await ann.posted(`/v1/spaces/${id}/messages`, { text: 'secret-text' }, 201);
    const places = [
      ['GET', ''],
      ['DELETE', ''],
      ['GET', '/members'],
      ['POST', '/members', {}],
      ['POST', '/members', { member: { kind: 'person', id: 'eve' } }],
      ['DELETE', '/members/person/ann', {}],
      ['DELETE', '/members/person/eve', {}],
      ['GET', '/messages'],
      ['POST', '/messages', { text: 'Hi' }],
      ['GET', '/stream'],
    ] as const;
    for (const [method, path, body] of places)
      for (const name of ['eve', 'other'])
        for (const spaceId of [id, 'sp_none', 'a%00b', '%F0%9F%98%80']) {
          const response = await as(name).request(`/v1/spaces/${spaceId}${path}`, {
            method,
            ...(body === undefined
              ? {}
              : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
          });
          const place = [name, method, path, spaceId];
          expect([...place, response.status]).toEqual([...place, 404]);
          const problem = await response.text();
          expect(JSON.parse(problem)).toMatchObject({ code: 'unknown_space' });
          expect(problem).not.toContain('secret');
        }
    expect(await as('eve').json('/v1/spaces')).toEqual({ spaces: [] });
    expect(await as('other').json('/v1/spaces')).toEqual({ spaces: [] });
    expect((await as('eve').request('/v1/spaces?all=true')).status).toBe(403);
    expect((await as('eve').request('/v1/spaces?tenant=beta')).status).toBe(403);
    expect(await as('admin').json('/v1/spaces?all=true')).toMatchObject({ spaces: [{ id }] });
    expect(await as('other-admin').json('/v1/spaces?all=true')).toEqual({ spaces: [] });
    expect((await as('other-admin').request(`/v1/spaces/${id}`)).status).toBe(404);
    expect(await ann.json(`/v1/spaces/${id}`)).toMatchObject({ lastPosition: 1 });
  },
);

it('an admin reads and joins every space, and writes as a member only', async () => {
  const { as } = await spacesApp();
  const admin = as('admin');
  const { id } = await as('ann').created({ name: 'Room' });
  const messages = `/v1/spaces/${id}/messages`;
  expect(await admin.json(messages)).toMatchObject({ messages: [] });
  expect(await problemOf(await admin.post(messages, { text: 'Hi' }))).toMatchObject({
    ...{ status: 403, code: 'not_a_member' },
  });
  await admin.posted(`/v1/spaces/${id}/members`, {});
  expect(await admin.posted(messages, { text: 'Hi' }, 201)).toMatchObject({ position: 1 });
});

it.each([
  [{}, '/name'],
  [{ name: '' }, '/name'],
  [{ name: ' ' }, '/name'],
  [{ name: 'x'.repeat(201) }, '/name'],
  [{ name: 'Room', access: 'public' }, '/access'],
  [{ name: 'Room', metadata: [] }, '/metadata'],
  [{ name: 'Room', metadata: { a: 'x'.repeat(9_000) } }, '/metadata'],
  [
    { name: 'Room', metadata: JSON.parse(`${'{"a":'.repeat(40)}1${'}'.repeat(40)}`) as Json },
    '/metadata',
  ],
  [{ name: 'Room', owner: 'ann' }, '/owner'],
])('refuses the space %j and names the field', promise('G365'), async (body, path) => {
  const { as } = await spacesApp();
  expect(await problemOf(await as('ann').post('/v1/spaces', body))).toMatchObject({
    status: 422,
    errors: [{ path }],
  });
});

it.each([
  [{ member: { kind: 'person' } }, '/member/id'],
  [{ member: { kind: 'person', id: 'a\0b' } }, '/id'],
  [{ member: { kind: 'robot', id: 'x' } }, '/member/kind'],
  [
    { member: { kind: 'agent', conversationId: 'a~b', agent: 'support' } },
    '/member/conversationId',
  ],
  [{ member: { kind: 'agent', conversationId: 'c-1' } }, '/member/agent'],
  [{ actor: { id: 'bob' } }, '/actor'],
])('refuses the member %j and names the field', promise('G365'), async (body, path) => {
  const { as } = await spacesApp();
  const { id } = await as('ann').created({ name: 'Room' });
  expect(await problemOf(await as('ann').post(`/v1/spaces/${id}/members`, body))).toMatchObject({
    status: 422,
    errors: [{ path }],
  });
});

it('refuses agents that no worker serves', async () => {
  const { as } = await spacesApp();
  const { id } = await as('ann').created({ name: 'Room' });
  const member = { kind: 'agent', conversationId: 'c-1', agent: 'nobody' };
  expect(
    await problemOf(await as('ann').post(`/v1/spaces/${id}/members`, { member })),
  ).toMatchObject({ status: 404, code: 'unknown_agent' });
});

it('an API without a store of spaces has none', async () => {
  const { as } = await spacesApp({}, { kind: 'none' });
  expect((await as('ann').request('/v1/spaces')).status).toBe(404);
});
