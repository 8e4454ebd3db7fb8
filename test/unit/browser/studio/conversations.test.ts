/** A list of conversations that a page follows: its pages, changes while one is read, and lost connections. */
import { afterEach, describe, expect, it } from 'vitest';
import { createBrowserClient } from '../../../../src/browser/index.js';
import {
  type BrowserConversations,
  type ConversationsChoice,
  conversationsOf,
} from '../../../../src/browser/studio/index.js';
import { formatConversationsFrame } from '../../../../src/http/routes/conversations-stream.js';
import { FakeStream, json, problem, scriptedFetch } from '../../../support/pages/scripted-fetch.js';
import { until } from '../../../support/until.js';

const QUICK = { minPauseMs: 2, maxPauseMs: 10, silenceMs: 10_000 };
const opened: BrowserConversations[] = [];

afterEach(() => {
  for (const list of opened.splice(0)) list.stop();
});

type Answer = (response: Response) => void;

/** Streams, and reads of pages that the test answers. */
function page(choice?: ConversationsChoice) {
  const streams: FakeStream[] = [];
  const reads: Answer[] = [];
  const { fetch, calls } = scriptedFetch(({ path }) => {
    if (!path.startsWith('/v1/conversations/stream'))
      return new Promise<Response>((resolve) => reads.push(resolve));
    const stream = new FakeStream();
    streams.push(stream);
    return stream.response;
  });
  const list = conversationsOf(createBrowserClient({ baseUrl: '', fetch, timing: QUICK }), choice);
  opened.push(list);
  list.open();
  /** The stream with this number, once it is open and has sent the frames. */
  const stream = async (index: number, ...frames: string[]): Promise<FakeStream> => {
    await until('the stream is open', () => streams.length > index);
    const one = streams[index];
    if (one === undefined) throw new Error('unreachable');
    if (frames.length > 0) one.send(...frames);
    return one;
  };
  const answer = async (index: number, response: Response): Promise<void> => {
    await until('the page is asked for', () => reads.length > index);
    reads[index]?.(response);
  };
  const shows = async (text: string) =>
    await until(`the list is "${text}"`, () => shown(list), { holds: (seen) => seen === text });
  const paths = () => calls.map(({ path }) => path.replace('/v1/conversations', ''));
  return { list, stream, answer, shows, paths, reads };
}

const row = (conversationId: string, seq = 1, at = seq) => ({
  conversationId,
  seq,
  updatedAt: new Date(at).toISOString(),
});
const rows = (conversations: readonly object[], nextCursor?: string) =>
  json({ conversations, ...(nextCursor === undefined ? {} : { nextCursor }) });
/** As the API sends it. */
const frame = (type: string, data: object, id?: string): string =>
  formatConversationsFrame({ type, ...data, ...(id === undefined ? {} : { id }) } as never);
const changed = (conversation: object, id?: string) => frame('conversation', { conversation }, id);
const READY = frame('ready', {}, 't-1');

function shown(list: BrowserConversations): string {
  const { conversations } = list.getSnapshot();
  return conversations.map(({ conversationId, seq }) => `${conversationId}${seq}`).join(' ');
}

describe('a page that follows a list of conversations', () => {
  it('keeps the pages it has over a lost connection, and goes on from its place', async () => {
    const { list, stream, answer, shows, paths } = page({ agent: 'support' });
    const first = await stream(0, READY);
    await answer(0, rows([row('b', 2)], 'next'));
    await shows('b2');
    const loaded = list.loadMore();
    await answer(1, rows([row('a', 1)]));
    await loaded;
    first.send(frame('place', {}, 't-7'), changed(row('c', 3)));
    await shows('c3 b2 a1');
    first.cut();
    await stream(1, changed(row('a', 4), 't-8'));
    await shows('a4 c3 b2');
    expect(list.getSnapshot()).toMatchObject({ connection: { state: 'live' }, hasMore: false });
    expect(paths().at(-1)).toBe('/stream?agent=support&after=t-7');
  });

  it('keeps what changes while a page is read, and takes no older row', async () => {
    const { list, stream, answer, shows } = page();
    const changes = [changed(row('a', 5)), frame('removed', { conversationId: 'b' })];
    const first = await stream(0, READY, ...changes, changed(row('c', 1)));
    await answer(0, rows([row('c', 6), row('b', 2), row('a', 4)], 'next'));
    await shows('c6 a5');
    const loaded = list.loadMore();
    first.send(frame('removed', { conversationId: 'd' }), changed(row('e', 9)));
    await answer(1, rows([row('e', 8), row('d', 2)]));
    await loaded;
    await shows('e9 c6 a5');
    // Deleted and begun anew under its id.
    first.send(changed(row('e', 1, 10)));
    await shows('e1 c6 a5');
  });

  it('reads the list again at once where that failed, and all of it after a reset', async () => {
    const { list, stream, answer, shows, paths } = page();
    await stream(0, READY, changed(row('z', 1), 't-2'));
    await answer(0, problem(503, 'store_unavailable'));
    await stream(1, READY);
    expect(paths().filter((path) => path.startsWith('/stream'))).toEqual(['/stream', '/stream']);
    await answer(1, rows([row('a', 1)]));
    await shows('a1');
    await stream(1, frame('reset', {}, 't-9'));
    await answer(2, rows([row('b', 1)]));
    await shows('b1');
    await stream(1, frame('reset', {}, 't-10'));
    await answer(3, problem(403, 'forbidden'));
    await until('the refusal', () => list.getSnapshot().connection.state === 'refused');
    expect(shown(list)).toBe('b1');
  });

  it('reads a list of those that need an operator anew at each connection', async () => {
    const { stream, answer, shows, paths } = page({ attention: 'agent_not_served' });
    const first = await stream(0, READY, changed(row('z', 1)));
    await answer(0, rows([row('a', 1)]));
    await shows('a1');
    first.cut();
    await stream(1, READY);
    await answer(1, rows([]));
    await shows('');
    expect(paths().filter((path) => path.startsWith('/stream'))).toEqual(['/stream', '/stream']);
  });
});
