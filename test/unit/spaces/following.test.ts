/** `colloquy.spaces` follows a space: messages, and what happens to its calls, over cuts. */
import { expect, it, onTestFinished } from 'vitest';
import type { SpaceEvent } from '../../../src/protocol/spaces/tool-events.js';
import { type FollowSpace, SpaceClient } from '../../../src/spaces/client.js';
import { type SpaceCaller, Spaces } from '../../../src/spaces/service.js';
import { createLocalLiveChannel } from '../../../src/store/live/local.js';
import { openSqliteStores } from '../../../src/store/sqlite/event-log.js';
import { promise } from '../../support/promise.js';
import { until } from '../../support/until.js';

const BOT: SpaceCaller = { tenant: 'acme', member: { kind: 'agent', id: 'desk~bot' } };

async function room() {
  const { spaces: store, log } = await openSqliteStores({ file: ':memory:' });
  onTestFinished(() => log.close());
  const spaces = new Spaces({ store, live: createLocalLiveChannel(), pollMs: 20 });
  const client = new SpaceClient(spaces, { actor: { id: 'job' }, tenant: 'acme' });
  const space = await client.create({ name: 'Room' });
  await space.add({ conversationId: 'desk', agent: 'bot' });
  const call = (n: number, status: 'running' | 'complete' | 'error') =>
    spaces.show(BOT, space.id, {
      ...{ requestId: `c${n}`, status },
      metadata: { toolName: 'chart', toolCallId: `call_${n}`, input: { n } },
    });
  /** A piece of the arguments of a call, or the end of the model call. */
  const writes = (text?: string) => {
    const of = { author: BOT.member, toolName: 'chart', attempt: 1, offset: 0 };
    const end = { answer: 't.1', attempt: 1 };
    spaces.writes(
      BOT,
      space.id,
      text === undefined ? end : { answer: 't.1', piece: { id: 't.1.0', ...of, text } },
    );
  };
  /** One reader, until it is cut. */
  const follow = (options: FollowSpace = {}) => {
    const cut = new AbortController();
    onTestFinished(() => {
      cut.abort();
    });
    const events: SpaceEvent[] = [];
    const over = (async () => {
      for await (const event of space.follow({ ...options, signal: cut.signal }))
        events.push(event);
    })();
    return { cut, events, over };
  };
  return { client, space, call, writes, follow };
}

async function allOf(events: AsyncIterable<SpaceEvent>): Promise<readonly SpaceEvent[]> {
  const all: SpaceEvent[] = [];
  for await (const event of events) all.push(event);
  return all;
}

const named = (events: readonly SpaceEvent[]) =>
  events.map((event) => (event.type === 'message' ? `message ${event.change}` : event.type));

it(
  'delivers messages and calls in order, and none is left out by a reader that is cut and comes back',
  promise('G401', 'H52'),
  async () => {
    const { space, call, writes, follow } = await room();
    const first = follow();
    await until('it is ready', () => first.events.length === 1);
    writes('{"n":1}');
    await until('the piece', () => first.events.length === 2);
    await call(1, 'running');
    await until('the call', () => named(first.events).includes('message 1'));
    // The model call is over.
    writes();
    first.cut.abort();
    await first.over;
    // Stored while there is no reader.
    await call(1, 'complete');
    await space.send('Hi');
    const place = first.events.flatMap((event) => (event.type === 'message' ? [event.change] : []));
    const second = follow({ after: place.at(-1) });
    await until('what it has missed', () => named(second.events).includes('message 3'));
    await call(2, 'error');
    await until('the error', () => named(second.events).includes('message 4'));
    expect(named([...first.events, ...second.events])).toEqual([
      ...['ready', 'tool.streaming', 'tool.started', 'message 1'],
      ...['tool.done', 'message 2', 'message 3', 'tool.error', 'message 4'],
    ]);
    expect(first.events.slice(1, 3)).toMatchObject([
      { author: BOT.member, toolName: 'chart', offset: 0, text: '{"n":1}' },
      { toolName: 'chart', toolCallId: 'call_1', status: 'running', input: { n: 1 } },
    ]);
    await space.delete();
    await second.over;
    expect(second.events.at(-1)).toEqual({ type: 'deleted' });
  },
);

it('a reader whose code throws ends alone, and others have every event', async () => {
  const { client, space, follow } = await room();
  await space.add({ id: 'bob' });
  const bob = client.space(space.id, { actor: { id: 'bob' } });
  const other = follow({ after: 0 });
  const failing = (async () => {
    for await (const event of space.follow({ after: 0 })) throw new Error(`no ${event.type}`);
  })();
  await bob.send('One');
  await expect(failing).rejects.toThrow('no message');
  await bob.send('Two');
  await until('both', () => other.events.length === 2);
  expect(named(other.events)).toEqual(['message 1', 'message 2']);
});

it('a reader that stops leaves nothing open', async () => {
  const { space, client } = await room();
  await space.send('Hi');
  for await (const event of space.follow({ after: 0 })) {
    expect(event).toMatchObject({ type: 'message', message: { text: 'Hi' } });
    break;
  }
  const gone = new AbortController();
  gone.abort();
  expect(await allOf(space.follow({ signal: gone.signal }))).toEqual([]);
  await expect(allOf(client.space('sp_none').follow())).rejects.toMatchObject({
    code: 'unknown_space',
  });
  await expect(allOf(client.space(space.id, { tenant: 'other' }).follow())).rejects.toMatchObject({
    code: 'unknown_space',
  });
});

it.each([-1, 1.5, 'x'])('refuses the place %j by its field', async (after) => {
  const { space } = await room();
  await expect(allOf(space.follow({ after: after as never }))).rejects.toMatchObject({
    ...{ code: 'invalid_request', problems: [{ path: '/after' }] },
  });
});
