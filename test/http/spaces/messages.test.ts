/** Messages of spaces by the API: pages, texts and the stream. */
import { expect, it, onTestFinished } from 'vitest';
import { promise } from '../../support/promise.js';
import { problemOf } from '../../support/samples/problems.js';
import { type Json, spacesApp } from '../../support/spaces/spaces-app.js';
import { until } from '../../support/until.js';

interface Page {
  readonly messages: readonly { readonly position: number; readonly text: string }[];
  readonly lastPosition: number;
  readonly lastChange: number;
}

async function room() {
  const app = await spacesApp({ heartbeatMs: 20 });
  const ann = app.as('ann');
  const { id } = await ann.created({ name: 'Room' });
  const path = `/v1/spaces/${id}`;
  await ann.posted(`${path}/members`, { member: { kind: 'person', id: 'bob', name: 'Bob' } });
  const send = async (text: string, more: Json = {}) =>
    await ann.posted(`${path}/messages`, { text, ...more }, 201);
  const page = async (query = '') =>
    (await ann.json(`${path}/messages${query}`)) as unknown as Page;
  /** The text of a stream so far. */
  const stream = async (name: string, query = '', lastId?: string) => {
    const response = await app.as(name).request(`${path}/stream${query}`, {
      headers: lastId === undefined ? {} : { 'last-event-id': lastId },
    });
    const read = { text: '', isOver: false, response };
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    onTestFinished(async () => {
      await reader?.cancel().catch(() => undefined);
    });
    void (async () => {
      for (;;) {
        const chunk = await reader?.read();
        if (chunk?.value === undefined) break;
        read.text += chunk.value;
      }
      read.isOver = true;
    })();
    return read;
  };
  return { ...app, ann, id, path, send, page, stream };
}

it(
  'a text has its author, a position and a time; a repeat under a key is one message',
  promise('G366'),
  async () => {
    const { ann, path, send, page, as } = await room();
    const first = await send('Hi', { requestId: 'r1' });
    expect(first).toEqual({
      ...{ id: expect.stringMatching(/^msg_[0-9a-f]{24}$/) as string, position: 1, change: 1 },
      author: { kind: 'person', id: 'ann', name: 'Ann' },
      ...{ kind: 'text', status: 'complete', text: 'Hi' },
      createdAt: expect.any(String) as string,
      changedAt: expect.any(String) as string,
    });
    expect(await send('Hi', { requestId: 'r1' })).toEqual(first);
    const key = { 'idempotency-key': 'r1' };
    expect(await (await ann.post(`${path}/messages`, { text: 'Hi' }, key)).json()).toEqual(first);
    const other = await ann.post(`${path}/messages`, { text: 'Ho' }, key);
    expect(await problemOf(other)).toMatchObject({ status: 422, errors: [{ path: '/requestId' }] });
    // The key of another member is another message.
    const bob = await as('bob').post(`${path}/messages`, { text: 'Ho' }, key);
    expect(await bob.json()).toMatchObject({ position: 2, author: { id: 'bob', name: 'Bob' } });
    expect(await page()).toMatchObject({ lastPosition: 2, lastChange: 2 });
  },
);

it('reads pages from the newest, before and after a position, and by offset', async () => {
  const { ann, path, send, page } = await room();
  for (let n = 1; n <= 7; n += 1) await send(`m${n}`);
  const texts = async (query: string) => (await page(query)).messages.map(({ text }) => text);
  expect(await texts('?limit=2')).toEqual(['m6', 'm7']);
  expect(await texts('?limit=2&before=6')).toEqual(['m4', 'm5']);
  expect(await texts('?limit=2&after=0')).toEqual(['m1', 'm2']);
  expect(await texts('?limit=2&offset=2')).toEqual(['m4', 'm5']);
  expect(await texts('?offset=7')).toEqual([]);
  expect(await texts('?offset=99')).toEqual([]);
  expect(await texts('?offset=0')).toHaveLength(7);
  const both = await ann.request(`${path}/messages?before=6&after=1`);
  expect(await problemOf(both)).toMatchObject({ status: 422, errors: [{ path: '?after' }] });
  const many = await ann.request(`${path}/messages?limit=101`);
  expect(await problemOf(many)).toMatchObject({ status: 422, errors: [{ path: '?limit' }] });
});

it('a text answers a text of the space, and no call', promise('H50'), async () => {
  const { ann, path, send, spaces, id, as } = await room();
  const first = await send('Hi');
  const reply = await as('bob').posted(
    `${path}/messages`,
    { text: 'Ho', replyTo: first['id'] },
    201,
  );
  expect(reply).toMatchObject({ replyTo: first['id'] });
  const caller = { tenant: 'default', member: { kind: 'person', id: 'ann' } } as const;
  const call = await spaces.show(caller, id, { requestId: 'c', status: 'running' });
  for (const replyTo of [call.id, 'msg_none']) {
    const refused = await ann.post(`${path}/messages`, { text: 'Ho', replyTo });
    expect(await problemOf(refused)).toMatchObject({ status: 422, errors: [{ path: '/replyTo' }] });
  }
});

it.each([
  [{}, '/text'],
  [{ text: '' }, '/text'],
  [{ text: 'ö'.repeat(16_385) }, '/text'],
  [{ text: 'Hi', metadata: {} }, '/metadata'],
  [{ text: 'Hi', kind: 'tool' }, '/kind'],
  [{ text: 'Hi', actor: { id: 'bob' } }, '/actor'],
])('refuses the message %j and names the field', promise('G365'), async (body, path) => {
  const { ann, path: space } = await room();
  expect(await problemOf(await ann.post(`${space}/messages`, body))).toMatchObject({
    status: 422,
    errors: [{ path }],
  });
});

it('takes the longest text, with any characters', async () => {
  const { send, page } = await room();
  const texts = ['ö'.repeat(16_384), '\0', '"\n</script>\u2028'];
  for (const text of texts) await send(text);
  expect((await page()).messages.map(({ text }) => text)).toEqual(texts);
});

it(
  'streams with ids, a retry and heartbeats, and goes on after the last event',
  promise('G368'),
  async () => {
    const { send, stream, page } = await room();
    await send('one');
    const live = await stream('bob');
    expect(live.response.headers.get('content-type')).toMatch('text/event-stream');
    await until('it is ready', () => live.text.includes('event: ready'));
    expect(live.text).toMatch(/^: open\nretry: \d+\n\nid: 1\nevent: ready\ndata: \{\}\n\n/);
    await send('two');
    await until('the message', () => live.text.includes('"text":"two"'));
    expect(live.text).toMatch(/\nid: 2\nevent: message\ndata: \{"id":"msg_/);
    await until('a heartbeat', () => live.text.includes(': ping'));
    const again = await stream('bob', '', '1');
    await until('the rest', () => again.text.includes('"text":"two"'));
    expect(again.text).not.toContain('"text":"one"');
    // The header is newer than the address.
    const both = await stream('bob', '?after=0', '1');
    await until('the rest', () => both.text.includes('"text":"two"'));
    expect(both.text).not.toContain('"text":"one"');
    const { lastChange } = await page('?limit=1');
    const after = await stream('bob', `?after=${lastChange}`);
    await send('three');
    await until('the newest', () => after.text.includes('"text":"three"'));
    expect(after.text).not.toContain('"text":"two"');
  },
);

it(
  'ends a stream when its reader is removed, and when the space is deleted',
  promise('G365'),
  async () => {
    const { ann, path, stream, as } = await room();
    const [bob, own] = [await stream('bob'), await stream('ann')];
    await until('both are open', () => bob.text.includes('ready') && own.text.includes('ready'));
    await as('admin').request(`${path}/members/person/bob`, { method: 'DELETE' });
    await until('it has ended', () => bob.isOver);
    expect(bob.text).toContain('event: deleted\ndata: {}\n\n');
    await until('the other hears of it', () => own.text.includes('event: members\ndata: {}'));
    await ann.request(path, { method: 'DELETE' });
    await until('it has ended, too', () => own.isOver);
  },
);

it.each(['x', '-1', '1-2', '9'.repeat(16)])('refuses the place %j of a stream', async (after) => {
  const { ann, path, as } = await room();
  const byQuery = await ann.request(`${path}/stream?after=${after}`);
  expect(await problemOf(byQuery)).toMatchObject({ status: 422, errors: [{ path: '?after' }] });
  const byHeader = await as('bob').request(`${path}/stream`, {
    headers: { 'last-event-id': after },
  });
  expect(await problemOf(byHeader)).toMatchObject({ errors: [{ path: 'Last-Event-ID' }] });
});

it(
  'the stream names what happens to a call by the events of Hsafa, each before its message',
  promise('H52'),
  async () => {
    const { spaces, id, stream } = await room();
    const caller = { tenant: 'default', member: { kind: 'person', id: 'ann' } } as const;
    const read = await stream('bob', '?after=0');
    const call = { toolName: 'chart', toolCallId: 'call_c', input: { bars: [1] } };
    const output = { success: true };
    const steps = [
      { status: 'running', metadata: call },
      { status: 'requires_action', metadata: call },
      { status: 'complete', metadata: { ...call, output } },
    ] as const;
    for (const [index, step] of steps.entries()) {
      await spaces.show(caller, id, { requestId: 'c', ...step });
      await until(`change ${index + 1}`, () => read.text.includes(`id: ${index + 1}\n`));
    }
    const error = { code: 'tool_error', message: 'no paper' };
    await spaces.show(caller, id, {
      ...{ requestId: 'd', status: 'error', metadata: { ...call, toolCallId: 'call_d', error } },
    });
    // A message of the engine that shows no call has no such event.
    const plain = { toolName: 'loop_protection', reason: 'hops' };
    await spaces.show(caller, id, { requestId: 'e', status: 'error', metadata: plain });
    await until('the last', () => read.text.includes('id: 5\n'));
    const blocks = read.text.split('\n\n').filter((block) => block.includes('event: '));
    expect(blocks.map((block) => /^event: (.+)$/m.exec(block)?.[1])).toEqual([
      ...['tool.started', 'message', 'tool.started', 'message', 'tool.done', 'message'],
      ...['tool.error', 'message', 'message'],
    ]);
    const data = blocks.map((block) => JSON.parse(/^data: (.+)$/m.exec(block)?.[1] ?? '') as Json);
    const author = { kind: 'person', id: 'ann', name: 'Ann' };
    const of = { messageId: data[1]?.['id'], author, ...call };
    expect([data[0], data[2], data[4]]).toEqual([
      { ...of, status: 'running' },
      { ...of, status: 'requires_action' },
      { ...of, status: 'complete', output },
    ]);
    expect(data[6]).toMatchObject({ toolCallId: 'call_d', status: 'error', error });
    expect(blocks.filter((block) => block.includes('tool.') && /^id: /m.test(block))).toEqual([]);
    // A reader that was cut off between the two gets both.
    const again = await stream('bob', '', '2');
    await until('it has the end', () => again.text.includes('id: 5\n'));
    expect(again.text.indexOf('event: tool.done')).toBeLessThan(again.text.indexOf('id: 3\n'));
  },
);

it(
  'the stream brings the arguments of a call as they are written, without an id',
  promise('H52'),
  async () => {
    const { spaces, id, ann, path, stream } = await room();
    await ann.posted(`${path}/members`, {
      member: { kind: 'agent', conversationId: 'desk', agent: 'support' },
    });
    const member = { kind: 'agent', id: 'desk~support' } as const;
    const read = await stream('bob', '?after=0');
    const of = { id: 't1.1.0', author: member, toolName: 'chart', attempt: 1 };
    await until('it is followed', () => {
      spaces.writes({ tenant: 'default', member }, id, {
        ...{ answer: 't1.1', piece: { ...of, offset: 0, text: '{"bars":' } },
      });
      return read.text.includes('tool.streaming');
    });
    expect(read.text).toContain(
      `event: tool.streaming\ndata: ${JSON.stringify({ ...of, offset: 0, text: '{"bars":' })}\n\n`,
    );
    expect(read.text).not.toMatch(/^id: .*\nevent: tool/m);
  },
);
