/** A page that follows a space: reads, streams, lost connections, refusals; texts and answers of the page. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { type BrowserClientOptions, createBrowserClient } from '../../../../src/browser/index.js';
import { type BrowserSpace, spaceOf, spacesOf } from '../../../../src/browser/spaces/index.js';
import { json, problem } from '../../../support/pages/scripted-fetch.js';
import { frameOf, ScriptedSpace } from '../../../support/pages/scripted-space.js';
import { promise } from '../../../support/promise.js';
import { textMessage } from '../../../support/spaces/shown-messages.js';
import { until } from '../../../support/until.js';

const QUICK = { minPauseMs: 2, maxPauseMs: 10, silenceMs: 10_000, giveUpMs: 5_000 };
const opened: BrowserSpace[] = [];

afterEach(() => {
  for (const space of opened.splice(0)) space.stop();
});

function page(api: ScriptedSpace, options: Partial<BrowserClientOptions> = {}): BrowserSpace {
  const client = createBrowserClient({ baseUrl: '', fetch: api.fetch, timing: QUICK, ...options });
  const space = spaceOf(client, 'sp_1');
  opened.push(space);
  return space;
}

const texts = (space: BrowserSpace) => space.getSnapshot().messages.map(({ text }) => text);
const positions = (space: BrowserSpace) =>
  space.getSnapshot().messages.map(({ position }) => position);
const stateOf = (space: BrowserSpace) => space.getSnapshot().connection.state;

async function live(api: ScriptedSpace, space: BrowserSpace, streams = 1) {
  await until('the stream is open', () => {
    return api.streams.length === streams && stateOf(space) === 'live';
  });
}

const range = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index);

describe('a page that follows a space', () => {
  it('reads the space, its newest messages and members, and goes on from there', async () => {
    const api = new ScriptedSpace(3);
    const space = page(api);
    const changes = vi.fn();
    const end = space.subscribe(changes);
    expect(await space.open()).toMatchObject({
      ...{ spaceId: 'sp_1', hasOlder: false, outgoing: [] },
      space: { name: 'Desk', access: 'invited' },
    });
    expect(space.getSnapshot().space).not.toHaveProperty('lastChange');
    await live(api, space);
    expect(api.sent('GET', '/stream').at(-1)?.headers.get('last-event-id')).toBe('3');
    await until('the members', () => space.getSnapshot().members.length === 1);
    api.write('new');
    await until('it is shown', () => texts(space).at(-1) === 'new');
    expect(positions(space)).toEqual([1, 2, 3, 4]);
    expect(space.getSnapshot()).toBe(space.getSnapshot());
    end();
    changes.mockClear();
    api.write('newer');
    await until('it is shown', () => texts(space).at(-1) === 'newer');
    expect(changes).not.toHaveBeenCalled();
    // A repeat opens no second connection.
    await space.open();
    expect(api.streams).toHaveLength(1);
  });

  it('replaces a message that has changed, and never by an older state', async () => {
    const api = new ScriptedSpace(2);
    const space = page(api);
    await space.open();
    await live(api, space);
    const [before] = space.getSnapshot().messages;
    api.move(1, { status: 'requires_action', metadata: { toolName: 'pay' } });
    api.move(1, { status: 'complete' });
    await until('it is complete', () => space.getSnapshot().messages[0]?.status === 'complete');
    if (before !== undefined) api.stream.send(frameOf(before));
    api.write('next');
    await until('the next', () => texts(space).at(-1) === 'next');
    expect(space.getSnapshot().messages).toMatchObject([
      { position: 1, status: 'complete' },
      { position: 2 },
      { position: 3 },
    ]);
  });

  it(
    'has each message once and without a gap, however often the connection is lost',
    promise('G372'),
    async () => {
      const api = new ScriptedSpace(1);
      const space = page(api);
      await space.open();
      for (let count = 1; count <= 6; count += 1) {
        await live(api, space, count);
        api.write(`live ${count}`);
        await until('it is shown', () => texts(space).at(-1) === `live ${count}`);
        // Stored while the page has no connection.
        api.write(`missed ${count}`, { silent: true });
        if (count % 2 === 0) api.stream.end();
        else api.stream.cut();
        await until('the missed', () => texts(space).at(-1) === `missed ${count}`);
      }
      expect(positions(space)).toEqual(range(1, 13));
      const places = api.sent('GET', '/stream').map(({ headers }) => headers.get('last-event-id'));
      expect(places.slice(0, 3)).toEqual(['1', '2', '4']);
      // The messages were read once; all else came by streams.
      expect(api.sent('GET', '/messages')).toHaveLength(1);
    },
  );

  it('reads the members at each connection, and when the stream says so', async () => {
    const api = new ScriptedSpace();
    const space = page(api);
    await space.open();
    await live(api, space);
    const [ann] = api.members;
    if (ann === undefined) throw new Error('no member');
    api.members = [ann, { ...ann, id: 'bob' }];
    let tries = 0;
    api.instead = ({ path }) => {
      if (!path.endsWith('/members')) return undefined;
      tries += 1;
      return tries < 3 ? problem(503, 'draining') : undefined;
    };
    api.stream.send('event: members\ndata: {}\n\n');
    await until('bob', () => space.getSnapshot().members.length === 2);
    api.members = [ann];
    api.stream.cut();
    await until('ann alone', () => space.getSnapshot().members.length === 1);
  });

  it('reads all anew when the store has less than the page has seen', promise('G372'), async () => {
    const api = new ScriptedSpace(5);
    const space = page(api);
    await space.open();
    await live(api, space);
    api.messages = [textMessage(1), textMessage(2, { text: 'restored' })];
    api.change = 2;
    api.stream.cut();
    await until('the restored', () => texts(space).at(-1) === 'restored');
    expect(positions(space)).toEqual([1, 2]);
    await live(api, space, 3);
    api.write('after');
    await until('the next', () => texts(space).at(-1) === 'after');
  });

  it('ends as refused when the space is gone, or the caller is no member any more', async () => {
    const api = new ScriptedSpace(1);
    const space = page(api);
    await space.open();
    await live(api, space);
    api.stream.send('event: deleted\ndata: {}\n\n');
    await until('it has ended', () => stateOf(space) === 'refused');
    expect(space.getSnapshot()).toMatchObject({
      connection: { problem: { status: 404, code: 'unknown_space' } },
      messages: [{ position: 1 }],
    });
    await until('the stream is left', () => api.stream.isCancelled);
    // Trying once more is up to the page.
    await space.open();
    await live(api, space, 2);
  });

  it('says that it waits while the API is away, and stops when the signal aborts', async () => {
    const api = new ScriptedSpace(1);
    const space = page(api);
    const leaving = new AbortController();
    await space.open({ signal: leaving.signal });
    await live(api, space);
    api.instead = () => problem(503, 'draining', { 'retry-after': '3600' });
    api.stream.end();
    await until('it waits', () => stateOf(space) === 'waiting');
    leaving.abort();
    expect(stateOf(space)).toBe('off');
    api.instead = undefined;
    await space.open({ signal: leaving.signal });
    expect(stateOf(space)).toBe('off');
    await space.open();
    await live(api, space, 2);
    space.stop();
    await until('the stream is left', () => api.stream.isCancelled);
    expect(space.getSnapshot().messages).toHaveLength(1);
  });

  it('ignores frames of a later version', async () => {
    const api = new ScriptedSpace();
    const space = page(api);
    await space.open();
    await live(api, space);
    api.stream.send('id: 9\nevent: tool.sparkles\ndata: {"a":1}\n\n');
    api.write('hi');
    await until('the text', () => texts(space).join() === 'hi');
  });
});

describe('older messages', () => {
  it('are read page by page, down to the first', async () => {
    const api = new ScriptedSpace(120);
    const space = page(api);
    await space.open();
    expect(positions(space)).toEqual(range(71, 120));
    await Promise.all([space.loadOlder(), space.loadOlder()]);
    expect(positions(space)).toEqual(range(21, 120));
    await space.loadOlder();
    expect(positions(space)).toEqual(range(1, 120));
    expect(space.getSnapshot().hasOlder).toBe(false);
    const sent = api.calls.length;
    await space.loadOlder();
    expect(api.calls).toHaveLength(sent);
  });

  it('are in their newest state, also when they change while they are read', async () => {
    const api = new ScriptedSpace(60);
    const space = page(api);
    await space.open();
    await live(api, space);
    // Not loaded yet: it would stand behind a gap.
    api.move(2, { text: 'changed before' });
    api.write('mark');
    await until('the mark', () => texts(space).at(-1) === 'mark');
    expect(positions(space)[0]).toBe(11);
    let answer = (): void => undefined;
    api.instead = ({ path }) => {
      if (!path.includes('before=')) return undefined;
      const old = json(api.page(new URL(path, 'http://api').searchParams));
      return new Promise((resolve) => {
        answer = () => resolve(old);
      });
    };
    const loading = space.loadOlder();
    await until('it is read', () => api.sent('GET', '/messages').length === 2);
    api.move(3, { text: 'changed meanwhile' });
    api.write('mark 2');
    await until('the mark', () => texts(space).at(-1) === 'mark 2');
    answer();
    await loading;
    expect(positions(space)).toEqual(range(1, 62));
    expect(texts(space).slice(1, 3)).toEqual(['changed before', 'changed meanwhile']);
  });
});

describe('a text of the page', () => {
  it('is outgoing at once, one message for all repeats, and shown once', async () => {
    const api = new ScriptedSpace(1);
    const space = page(api);
    await space.open();
    await live(api, space);
    let tries = 0;
    api.instead = ({ method }) => {
      if (method !== 'POST') return undefined;
      tries += 1;
      if (tries <= 2) throw new TypeError('fetch failed');
      return json(api.write('hello'), { status: 201 });
    };
    const sending = space.send('hello', { requestId: 'r1', replyTo: 'msg_1' });
    expect(space.getSnapshot().outgoing).toEqual([
      { requestId: 'r1', text: 'hello', replyTo: 'msg_1', state: 'sending' },
    ]);
    expect(await sending).toMatchObject({ position: 2 });
    expect(space.getSnapshot()).toMatchObject({ outgoing: [], messages: [{}, { text: 'hello' }] });
    api.write('next');
    await until('the next', () => texts(space).at(-1) === 'next');
    expect(positions(space)).toEqual([1, 2, 3]);
    const bodies = api.sent('POST', '/messages').map(({ body }) => JSON.stringify(body));
    expect(bodies).toHaveLength(3);
    expect(new Set(bodies).size).toBe(1);
  });

  it('stays with its problem when it is refused, and is sent again or discarded', async () => {
    const api = new ScriptedSpace();
    const space = page(api);
    await space.open();
    api.instead = ({ method }) => (method === 'POST' ? problem(422, 'invalid_request') : undefined);
    await expect(space.send('x', { requestId: 'r1' })).rejects.toMatchObject({
      problem: { code: 'invalid_request' },
    });
    expect(space.getSnapshot().outgoing).toMatchObject([
      { requestId: 'r1', state: 'failed', problem: { status: 422 } },
    ]);
    space.discard('r1');
    expect(space.getSnapshot().outgoing).toEqual([]);
  });
});

describe('requests of a page', () => {
  it('answer calls under one request id until there is a verdict, at any status', async () => {
    const api = new ScriptedSpace();
    const space = page(api);
    let tries = 0;
    api.instead = ({ method }) => {
      if (method !== 'POST') return undefined;
      tries += 1;
      return tries === 1 ? problem(503, 'draining') : json({ verdict: 'stale' }, { status: 409 });
    };
    const yes = { type: 'answer', value: { confirmed: true } } as const;
    expect(await space.answer('msg/1', yes, { argsDigest: 'd' })).toEqual({ verdict: 'stale' });
    const sent = api.sent('POST', '/resolution');
    expect(sent.map(({ path }) => path)).toEqual(
      Array(2).fill('/v1/spaces/sp_1/messages/msg%2F1/resolution'),
    );
    const { requestId } = sent[0]?.body ?? {};
    expect(requestId).toMatch(/^[0-9a-f]{32}$/);
    for (const { body } of sent)
      expect(body).toEqual({ resolution: yes, requestId, argsDigest: 'd' });
  });

  it('list and create spaces; join, add and remove members; delete', async () => {
    const api = new ScriptedSpace();
    const client = createBrowserClient({
      ...{ baseUrl: '', fetch: api.fetch, timing: QUICK, tenant: 'acme', me: { id: 'an/n' } },
    });
    api.instead = ({ method }) => json({ method, removed: true });
    await spacesOf(client).list({ limit: 10, cursor: '4', all: true });
    await spacesOf(client).create({ name: 'Desk', access: 'open', requestId: 'r1' });
    const space = spaceOf(client, 'sp_1');
    await space.join();
    await space.add({ kind: 'agent', conversationId: 'c1', agent: 'support' });
    expect(await space.leave()).toBe(true);
    expect(await space.remove({ kind: 'agent', id: 'c1~support' })).toBe(true);
    await space.delete();
    expect(api.calls.map(({ method, path, body }) => [method, path, body])).toEqual([
      ['GET', '/v1/spaces?limit=10&cursor=4&all=true&tenant=acme', {}],
      ['POST', '/v1/spaces?tenant=acme', { name: 'Desk', access: 'open', requestId: 'r1' }],
      ['POST', '/v1/spaces/sp_1/members?tenant=acme', {}],
      [
        ...['POST', '/v1/spaces/sp_1/members?tenant=acme'],
        { member: { kind: 'agent', conversationId: 'c1', agent: 'support' } },
      ],
      ['DELETE', '/v1/spaces/sp_1/members/person/an%2Fn?tenant=acme', {}],
      ['DELETE', '/v1/spaces/sp_1/members/agent/c1~support?tenant=acme', {}],
      ['DELETE', '/v1/spaces/sp_1?tenant=acme', {}],
    ]);
    await expect(page(api).leave()).rejects.toThrow('needs me: { id }');
  });
});
