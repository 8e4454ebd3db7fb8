/** A page that follows a conversation: reads, streams, lost connections, refusals. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { BrowserConversation } from '../../../src/browser/conversation.js';
import { type BrowserClientOptions, createBrowserClient } from '../../../src/browser/index.js';
import type { EventBody } from '../../../src/protocol/log/events.js';
import { ScriptedApi } from '../../support/pages/scripted-api.js';
import { problem } from '../../support/pages/scripted-fetch.js';
import { promise } from '../../support/promise.js';
import { textDelta } from '../../support/samples/live-messages.js';
import { answers, asks, started, turn } from '../../support/samples/log-events.js';
import { until } from '../../support/until.js';

const QUICK = { minPauseMs: 2, maxPauseMs: 10, silenceMs: 10_000, giveUpMs: 5_000 };
const opened: BrowserConversation[] = [];

afterEach(() => {
  for (const conversation of opened.splice(0)) conversation.leave();
  vi.unstubAllGlobals();
});

function page(
  api: ScriptedApi,
  options: Partial<BrowserClientOptions> & { readonly agent?: string } = {},
): BrowserConversation {
  const { agent, ...rest } = options;
  const client = createBrowserClient({ baseUrl: '', fetch: api.fetch, timing: QUICK, ...rest });
  const conversation = client.conversation('c1', agent === undefined ? {} : { agent });
  opened.push(conversation);
  return conversation;
}

function texts(conversation: BrowserConversation): readonly string[] {
  return conversation
    .getSnapshot()
    .messages.map((message) => (message.role === 'event' ? message.kind : message.text));
}

const stateOf = (conversation: BrowserConversation): string =>
  conversation.getSnapshot().connection.state;

async function shows(conversation: BrowserConversation, ...expected: readonly string[]) {
  await until(`the view shows ${expected.join()}`, () => texts(conversation).join(), {
    holds: (seen) => seen === expected.join(),
  });
}

describe('a page that follows a conversation', () => {
  it('reads its state and the end of its log, and goes on from there', async () => {
    const api = new ScriptedApi(started(), ...turn('t1', 'hi'));
    const conversation = page(api);
    const changes = vi.fn();
    const stop = conversation.subscribe(changes);
    expect(await conversation.open()).toMatchObject({ status: 'idle', agent: 'helper' });
    await until('the stream is open', () => stateOf(conversation) === 'live');
    expect(api.sent('GET', '/events').at(-1)?.headers.get('last-event-id')).toBe(
      `1-${api.events.length}`,
    );
    api.log(...asks('t2', 'and now?'));
    await shows(conversation, 'hello', 'hi', 'and now?');
    expect(changes).toHaveBeenCalled();
    const view = conversation.getSnapshot();
    expect(conversation.getSnapshot()).toBe(view);
    stop();
    changes.mockClear();
    api.log(...answers('t2', 'this'));
    await shows(conversation, 'hello', 'hi', 'and now?', 'this');
    expect(changes).not.toHaveBeenCalled();
  });

  it('shows streamed text that becomes the message, with no part lost or twice over a lost connection', async () => {
    const api = new ScriptedApi(started(), ...asks('t1'));
    const conversation = page(api);
    await conversation.open();
    await until('the stream is open', () => api.streams.length === 1);
    api.live(textDelta('Hel'), textDelta('lo', { offset: 3 }));
    await shows(conversation, 'hello', 'Hello');
    expect(conversation.getSnapshot().messages.at(-1)).toMatchObject({ isStreaming: true });
    api.stream.cut();
    await until('it is open again', () => api.streams.length === 2);
    // A late subscriber gets the text so far again.
    api.live(textDelta('Hello wo'), textDelta('rld', { offset: 8 }));
    await shows(conversation, 'hello', 'Hello world');
    const key = conversation.getSnapshot().messages.at(-1)?.key;
    api.log(...answers('t1', 'Hello world'));
    await until('the turn is over', () => conversation.getSnapshot().status === 'idle');
    expect(texts(conversation)).toEqual(['hello', 'Hello world']);
    expect(conversation.getSnapshot().messages.at(-1)).toMatchObject({ key, isStreaming: false });
  });

  it('resumes after the last event that it has, however often the connection is lost', async () => {
    const api = new ScriptedApi(started());
    const conversation = page(api);
    await conversation.open();
    for (let count = 1; count <= 5; count += 1) {
      await until(
        'it is open',
        () => api.streams.length === count && stateOf(conversation) === 'live',
      );
      const last = api.sent('GET', '/events').at(-1)?.headers.get('last-event-id');
      expect(last).toBe(`1-${api.events.length}`);
      api.log(...turn(`t${count}`, `answer ${count}`));
      await until('it has come', () => texts(conversation).at(-1) === `answer ${count}`);
      if (count % 2 === 0) api.stream.end();
      else api.stream.cut();
    }
    expect(texts(conversation)).toHaveLength(10);
  });

  it('says that it waits while the API is away, and for as long as Retry-After asks', async () => {
    const api = new ScriptedApi(started());
    const conversation = page(api);
    await conversation.open();
    await until('it is open', () => api.streams.length === 1);
    api.instead = () => problem(503, 'draining', { 'retry-after': '3600' });
    api.stream.end();
    await until('it was refused', () => {
      const { connection } = conversation.getSnapshot();
      return connection.state === 'waiting' && connection.problem.code === 'draining';
    });
    const { connection } = conversation.getSnapshot();
    if (connection.state !== 'waiting') throw new Error('not waiting');
    expect(connection.retryAt - Date.now()).toBeGreaterThan(3_500_000);
  });

  it('tries at once when the network is back, or the page is shown again', async () => {
    const document = Object.assign(new EventTarget(), { visibilityState: 'visible' });
    const network = new EventTarget();
    vi.stubGlobal('document', document);
    vi.stubGlobal('addEventListener', network.addEventListener.bind(network));
    vi.stubGlobal('removeEventListener', network.removeEventListener.bind(network));
    const api = new ScriptedApi(started());
    const conversation = page(api, {
      timing: { ...QUICK, minPauseMs: 3_600_000, maxPauseMs: 3_600_000 },
    });
    await conversation.open();
    await until('it is open', () => api.streams.length === 1);
    api.stream.end();
    await until('it waits', () => stateOf(conversation) === 'waiting');
    document.dispatchEvent(new Event('visibilitychange'));
    await until('it is open again', () => api.streams.length === 2);
    api.stream.end();
    await until('it waits', () => stateOf(conversation) === 'waiting');
    network.dispatchEvent(new Event('online'));
    await until('it is open again', () => api.streams.length === 3);
  });

  it('takes a stream without a byte for lost', async () => {
    const api = new ScriptedApi(started());
    const conversation = page(api, { timing: { ...QUICK, silenceMs: 60 } });
    await conversation.open();
    await until('it is open again', () => api.streams.length >= 2);
    expect(api.streams[0]?.isCancelled).toBe(true);
    await until('a new stream brings news', () => {
      api.stream.send(': ping\n\n');
      return stateOf(conversation) === 'live';
    });
  });

  it('reads a log anew that was rewritten, or that has a gap', promise('G354'), async () => {
    const api = new ScriptedApi(started(), ...turn('t1', 'the old answer'));
    const conversation = page(api);
    await conversation.open();
    await until('it is open', () => api.streams.length === 1);
    const before = api.events;
    api.generation = 2;
    api.events = [];
    const rewritten = new ScriptedApi(started(), ...turn('t1', 'the new answer'));
    api.events = rewritten.events;
    api.stream.cut();
    await shows(conversation, 'hello', 'the new answer');
    await until('it follows the new log', () => stateOf(conversation) === 'live');
    expect(api.sent('GET', '/events').at(-1)?.headers.get('last-event-id')).toBe(
      `2-${before.length}`,
    );
    const reads = api.sent('GET', '/c1').length;
    const [first, ...rest] = new ScriptedApi(...turn('t2', 'later')).events;
    expect(first?.type).toBe('user_message');
    const from = api.events.length;
    api.events = [
      ...api.events,
      ...[first!, ...rest].map((event) => ({ ...event, seq: event.seq + from })),
    ];
    api.stream.send(
      `id: 2-${from + 2}\nevent: turn_started\ndata: ${JSON.stringify(api.events[from + 1])}\n\n`,
    );
    await shows(conversation, 'hello', 'the new answer', 'hello', 'later');
    expect(api.sent('GET', '/c1').length).toBe(reads + 1);
  });

  it('asks for a new token once when the API refuses the old one, and stops when it refuses that, too', async () => {
    const api = new ScriptedApi(started());
    let good = 'second';
    api.instead = ({ headers }) =>
      headers.get('authorization') === `Bearer ${good}`
        ? undefined
        : problem(401, 'unauthenticated');
    const tokens = ['first', 'second', 'third', 'fourth'];
    const getToken = vi.fn(async () => tokens.shift() ?? 'none');
    const conversation = page(api, { getToken });
    expect(await conversation.open()).toMatchObject({ status: 'idle' });
    expect(getToken).toHaveBeenCalledTimes(2);
    await until('it is open', () => api.streams.length === 1);
    good = 'lost';
    api.stream.end();
    await until('it is refused', () => stateOf(conversation) === 'refused');
    expect(getToken).toHaveBeenCalledTimes(3);
    const asked = api.calls.length;
    expect(api.calls.some(({ path }) => path.includes('second'))).toBe(false);
    good = 'fourth';
    await conversation.open();
    await until('it is open', () => api.streams.length === 2);
    expect(api.calls.length).toBeGreaterThan(asked);
  });

  it('waits while it can have no token, and goes on when it has one', async () => {
    const api = new ScriptedApi(started(), ...turn('t1', 'hi'));
    let isAway = true;
    const getToken = vi.fn(async () => {
      if (isAway) throw new Error('the sign-in is away');
      return 'token-1';
    });
    const conversation = page(api, { getToken });
    void conversation.open();
    await until('it has tried again', () => getToken.mock.calls.length > 2);
    expect(api.calls).toEqual([]);
    isAway = false;
    await shows(conversation, 'hello', 'hi');
  });

  it('refuses what does not exist, unless it may begin; then the first message begins it', async () => {
    const none = page(new ScriptedApi());
    expect((await none.open()).connection).toMatchObject({
      state: 'refused',
      problem: { status: 404, code: 'unknown_conversation' },
    });
    const api = new ScriptedApi();
    const conversation = page(api, { agent: 'support' });
    expect(await conversation.open()).toMatchObject({ status: 'unknown', messages: [] });
    await until('it is open', () => api.streams.length === 1);
    expect(api.sent('GET', '/events').at(-1)?.path).toContain('create=wait');
    const admitted = { status: 'admitted', conversationId: 'c1', turnId: 't1' };
    api.instead = ({ method }) =>
      method === 'POST' ? Response.json(admitted, { status: 202 }) : undefined;
    expect(await conversation.send('hello', { requestId: 'r1' })).toEqual(admitted);
    expect(api.sent('POST', '/v1/conversations')[0]?.body).toEqual({
      ...{ agent: 'support', id: 'c1', requestId: 'r1' },
      message: { text: 'hello' },
    });
    api.log(started(), ...asks('t1', 'hello'));
    await until('it runs', () => conversation.getSnapshot().status === 'streaming');
  });

  it('reads nothing of a conversation that the page has just named, until it has begun', async () => {
    const api = new ScriptedApi();
    const client = createBrowserClient({ baseUrl: 'http://api', fetch: api.fetch, timing: QUICK });
    const conversation = client.conversation('c1', { agent: 'support', isNew: true });
    void conversation.open();
    await until('it is open', () => api.streams.length === 1);
    expect(api.calls.map(({ path }) => path)).toEqual(['/v1/conversations/c1/events?create=wait']);
    api.log(started(), ...turn('t1', 'hi'));
    await shows(conversation, 'hello', 'hi');
    api.stream.cut();
    await until('it is open again', () => api.streams.length === 2);
    await shows(conversation, 'hello', 'hi');
    conversation.leave();
  });

  it('says of a message whether it joined or stopped the turn that was running', async () => {
    const [joins] = asks('t1', 'faster') as readonly [Extract<EventBody, { type: 'user_message' }>];
    const steered = { ...joins, messageId: 't1.m2', requestId: 'r2', onBusy: 'steer' } as const;
    const conversation = page(new ScriptedApi(started(), ...asks('t1', 'hello'), steered));
    const { messages } = await conversation.open();
    expect(messages).toMatchObject([{ text: 'hello' }, { text: 'faster', onBusy: 'steer' }]);
    expect(messages[0]).not.toHaveProperty('onBusy');
    conversation.leave();
  });

  it('follows once after it was left and opened again, with requests under way', async () => {
    const api = new ScriptedApi(started(), ...turn('t1', 'hi'));
    const conversation = page(api);
    const first = conversation.open();
    conversation.leave();
    const second = conversation.open();
    await Promise.all([first, second]);
    await until('it is open', () => stateOf(conversation) === 'live');
    expect(api.streams).toHaveLength(1);
    expect(texts(conversation)).toEqual(['hello', 'hi']);
    conversation.leave();
    expect(stateOf(conversation)).toBe('off');
    api.stream.send(': ping\n\n');
    await until('the stream is left', () => api.stream.isCancelled);
    expect(stateOf(conversation)).toBe('off');
  });

  it('loads older messages in front, and ends its connection when the page leaves', async () => {
    const turns = Array.from({ length: 60 }, (_, index) =>
      turn(`t${index}`, `answer ${index}`),
    ).flat();
    const api = new ScriptedApi(started(), ...turns);
    const conversation = page(api);
    await conversation.open();
    expect(conversation.getSnapshot().hasOlder).toBe(true);
    const loaded = texts(conversation).length;
    await Promise.all([conversation.loadOlder(), conversation.loadOlder()]);
    expect(texts(conversation)).toHaveLength(120);
    expect(loaded).toBeLessThan(120);
    expect(conversation.getSnapshot().hasOlder).toBe(false);
    await conversation.loadOlder();
    await until('it is open', () => api.streams.length === 1);
    conversation.leave();
    await until('the stream is left', () => api.stream.isCancelled);
    expect(stateOf(conversation)).toBe('off');
    expect(texts(conversation)).toHaveLength(120);
  });
});
