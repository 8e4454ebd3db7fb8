/** Read marks of people by the API: in the list, in the space, and on the stream of their other tabs. */
import { expect, it, onTestFinished } from 'vitest';
import { promise } from '../../support/promise.js';
import { problemOf } from '../../support/samples/problems.js';
import { spacesApp } from '../../support/spaces/spaces-app.js';
import { until } from '../../support/until.js';

async function room() {
  const app = await spacesApp({ heartbeatMs: 20 });
  const [ann, bob] = [app.as('ann'), app.as('bob')];
  const { id } = await ann.created({ name: 'Room' });
  const path = `/v1/spaces/${id}`;
  await ann.posted(`${path}/members`, { member: { kind: 'person', id: 'bob' } });
  const sent = [];
  for (const text of ['one', 'two', 'three'])
    sent.push(await ann.posted(`${path}/messages`, { text }, 201));
  const [first, second, third] = sent.map((message) => String(message['id']));
  return { ...app, ann, bob, id, path, first, second, third };
}

/** The text of a stream so far. */
async function streamOf(app: Awaited<ReturnType<typeof room>>, name: string) {
  const response = await app.as(name).request(`${app.path}/stream`);
  const read = { text: '' };
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  onTestFinished(async () => {
    await reader?.cancel().catch(() => undefined);
  });
  void (async () => {
    for (let chunk = await reader?.read(); chunk?.value !== undefined; ) {
      read.text += chunk.value;
      chunk = await reader?.read();
    }
  })();
  await until(`the stream of ${name} is open`, () => read.text.includes('event: ready'));
  return read;
}

it('a mark is in the list and in the space of its person, and never moves back', {
  ...promise('G419', '2.H.3'),
}, async () => {
  const { bob, ann, path, first, second } = await room();
  const marks = async (member = bob) => {
    const { spaces } = (await member.json('/v1/spaces')) as unknown as { spaces: unknown[] };
    const one = await member.json(path);
    expect(spaces).toEqual([one]);
    return [one['readPosition'], one['unread']];
  };
  expect(await marks()).toEqual([0, 3]);
  // The author has read what it has written.
  expect(await marks(ann)).toEqual([3, 0]);
  const mark = { readPosition: 2, unread: 1 };
  expect(await bob.posted(`${path}/read`, { messageId: second })).toEqual(mark);
  expect(await bob.posted(`${path}/read`, { messageId: second })).toEqual(mark);
  expect(await bob.posted(`${path}/read`, { messageId: first })).toEqual(mark);
  expect(await marks()).toEqual([2, 1]);
  expect(await marks(ann)).toEqual([3, 0]);
});

it('the other tabs of the person see the mark, and no other member does', {
  ...promise('G419'),
}, async () => {
  const app = await room();
  const { bob, ann, path, first, third } = app;
  const [own, others] = [await streamOf(app, 'bob'), await streamOf(app, 'ann')];
  await bob.posted(`${path}/read`, { messageId: third });
  await until('the mark', () => own.text.includes('event: read\ndata: {"position":3}\n\n'));
  // A mark that changes nothing is no event, and the event has no id.
  await bob.posted(`${path}/read`, { messageId: first });
  await ann.posted(`${path}/messages`, { text: 'four' }, 201);
  await until('the text', () => [own, others].every(({ text }) => text.includes('"four"')));
  expect(own.text.match(/event: read$/gm)).toHaveLength(1);
  expect(own.text).not.toMatch(/id: \d+\nevent: read$/m);
  // The author of a text has read what stands before it, and sees that mark alone.
  await until('the own mark', () => others.text.includes('event: read\ndata: {"position":4}\n\n'));
  expect(others.text.match(/event: read$/gm)).toHaveLength(1);
});

it('members alone have a mark, and of messages of their space', promise('G419'), async () => {
  const { as, bob, ann, path, first } = await room();
  const refused = async (name: string, body: unknown) =>
    await problemOf(await as(name).post(`${path}/read`, body));
  for (const name of ['eve', 'other', 'other-admin'])
    expect(await refused(name, { messageId: first })).toMatchObject({ code: 'unknown_space' });
  expect(await refused('admin', { messageId: first })).toMatchObject({ code: 'not_a_member' });
  expect(await as('admin').json(path)).not.toHaveProperty('unread');
  const { id } = await ann.created({ name: 'Other' });
  const other = await ann.posted(`/v1/spaces/${id}/messages`, { text: 'Hi' }, 201);
  for (const messageId of ['msg_none', other['id'], 'é'])
    expect(await refused('bob', { messageId })).toMatchObject({
      ...{ status: 422, errors: [{ path: '/messageId' }] },
    });
  for (const body of [{}, { messageId: 7 }, { messageId: '' }, { messageId: first, extra: 1 }])
    expect(await refused('bob', body)).toMatchObject({ status: 422 });
  expect(await bob.json(path)).toMatchObject({ readPosition: 0, unread: 3 });
});
