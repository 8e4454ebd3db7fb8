/** Visible calls as a page of a space gets them: their events over lost connections, and their arguments as they are written. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createBrowserClient } from '../../../../src/browser/index.js';
import {
  type BrowserSpace,
  type SpaceEvent,
  spaceOf,
} from '../../../../src/browser/spaces/index.js';
import { FORGET_MS, WrittenCalls } from '../../../../src/browser/spaces/writing.js';
import type { SpaceMessage, StreamedArguments } from '../../../../src/protocol/spaces/spaces.js';
import { toolEventOf } from '../../../../src/protocol/spaces/tool-events.js';
import { frameOf, ScriptedSpace } from '../../../support/pages/scripted-space.js';
import { promise } from '../../../support/promise.js';
import { callMessage } from '../../../support/spaces/shown-messages.js';
import { until } from '../../../support/until.js';

const QUICK = { minPauseMs: 2, maxPauseMs: 10, silenceMs: 10_000, giveUpMs: 5_000 };
const AUTHOR = { kind: 'agent', id: 'desk-1~support' } as const;
const opened: BrowserSpace[] = [];

afterEach(() => {
  for (const space of opened.splice(0)) space.stop();
  vi.unstubAllGlobals();
});

function piece(text: string, offset = 0, over: Partial<StreamedArguments> = {}): StreamedArguments {
  return { id: 't.1.0', author: AUTHOR, toolName: 'chart', attempt: 1, offset, text, ...over };
}

const written = (given: StreamedArguments): string =>
  `event: tool.streaming\ndata: ${JSON.stringify(given)}\n\n`;

/** The event of the call and its message, as the API sends them. */
function callFrames(message: SpaceMessage): string {
  const { type = '', ...data } = toolEventOf(message) ?? {};
  return `event: ${type}\ndata: ${JSON.stringify(data)}\n\n${frameOf(message)}`;
}

async function page() {
  const api = new ScriptedSpace();
  const space = spaceOf(
    createBrowserClient({ baseUrl: '', fetch: api.fetch, timing: QUICK }),
    'sp_1',
  );
  opened.push(space);
  const events: SpaceEvent[] = [];
  const end = space.listen((event) => events.push(event));
  await space.open();
  const live = async (streams: number) => {
    await until('the stream is open', () => {
      const { state } = space.getSnapshot().connection;
      return api.streams.length === streams && state === 'live';
    });
  };
  await live(1);
  /** Stores the next state of a call, and sends it unless the page is not to see it yet. */
  const call = (n: number, fields: Partial<SpaceMessage>, { silent = false } = {}) => {
    api.change += 1;
    const base = callMessage(n, { toolName: 'chart', toolCallId: `call_${n}`, input: {} });
    const message = { ...base, change: api.change, ...fields };
    api.messages = [...api.messages.filter(({ id }) => id !== message.id), message];
    if (!silent) api.stream.send(callFrames(message));
    return message;
  };
  const seen = () =>
    events.map((event) => (event.type === 'message' ? `message ${event.change}` : event.type));
  return { api, space, events, seen, end, live, call };
}

describe('events of calls', () => {
  it(
    'come once and in order with their messages, and none is left out over lost connections',
    promise('G401', 'H52'),
    async () => {
      const { api, events, seen, live, call, space } = await page();
      api.stream.send(written(piece('{"bars"')), written(piece(':[1]}', 7)));
      call(1, {});
      await until('it runs', () => seen().includes('message 1'));
      // Cut between the event of the call and its message: the API sends both again.
      const done = call(1, { status: 'complete' }, { silent: true });
      api.stream.send(callFrames(done).slice(0, 60));
      api.stream.cut();
      await live(2);
      await until('it is done', () => seen().includes('message 2'));
      // Repeats of what the page has, and one that failed while there was no connection.
      api.stream.send(written(piece('{"bars":[1]}')), callFrames(done));
      call(2, { status: 'error' }, { silent: true });
      api.stream.end();
      await live(3);
      await until('the error', () => seen().includes('message 3'));
      expect(seen()).toEqual([
        ...['tool.streaming', 'tool.streaming', 'tool.started', 'message 1'],
        ...['tool.done', 'message 2', 'tool.error', 'message 3'],
      ]);
      expect(events[2]).toMatchObject({ messageId: 'msg_1', toolCallId: 'call_1', input: {} });
      expect(space.getSnapshot().messages).toHaveLength(2);
      const places = api.sent('GET', '/stream').map(({ headers }) => headers.get('last-event-id'));
      expect(places).toEqual(['0', '1', '2']);
    },
  );

  it('say that the view is read anew, and end with the listener', promise('G401'), async () => {
    const { api, seen, live, call, end } = await page();
    const begun = call(1, {});
    call(1, { status: 'complete' });
    await until('both', () => seen().length === 4);
    api.messages = [begun];
    api.change = 1;
    api.stream.cut();
    await until('it is read anew', () => seen().includes('reset'));
    await live(3);
    end();
    call(2, {});
    await until('it is shown', () => api.messages.length === 2);
    expect(seen().at(-1)).toBe('reset');
  });
});

describe('a listener that throws', () => {
  it(
    'neither ends the stream nor keeps an event from others, and its error is uncaught in the page',
    promise('G401'),
    async () => {
      const { api, space, seen, end, call, events } = await page();
      const uncaught: unknown[] = [];
      vi.stubGlobal('reportError', (error: unknown) => uncaught.push(error));
      end();
      const thrown = [new Error('of listen'), new Error('of subscribe')] as const;
      space.listen(() => {
        throw thrown[0];
      });
      space.listen((event) => events.push(event));
      let changes = 0;
      space.subscribe(() => {
        throw thrown[1];
      });
      space.subscribe(() => {
        changes += 1;
      });
      call(1, {});
      call(2, {});
      await until('both', () => space.getSnapshot().messages.length === 2);
      expect(seen()).toEqual(['tool.started', 'message 1', 'tool.started', 'message 2']);
      expect(changes).toBeGreaterThan(0);
      expect(api.streams).toHaveLength(1);
      expect(space.getSnapshot().connection).toEqual({ state: 'live' });
      expect(uncaught.filter((error) => error === thrown[0])).toHaveLength(4);
      expect(uncaught.filter((error) => error === thrown[1])).toHaveLength(changes);
    },
  );

  it('is uncaught in a process as well, which has no reportError', async () => {
    const { space, call, seen } = await page();
    const tasks: (() => void)[] = [];
    vi.stubGlobal('queueMicrotask', (task: () => void) => tasks.push(task));
    space.listen(() => {
      throw new Error('a fault');
    });
    call(1, {});
    await until('the message', () => seen().includes('message 1'));
    expect(tasks).toHaveLength(2);
    for (const task of tasks) expect(task).toThrow('a fault');
  });
});

describe('arguments that a model writes', () => {
  it('are in the view until the message of the call is', promise('G401', 'H52'), async () => {
    const { api, space, call } = await page();
    const texts = () => space.getSnapshot().writing.map(({ text }) => text);
    api.stream.send(written(piece('{"bars"', 0, { toolCallId: 'call_1' })));
    api.stream.send(written(piece('{', 0, { id: 't.1.1' })));
    await until('two calls', () => texts().length === 2);
    api.stream.send(written(piece(':[1]}', 7)));
    await until('more of it', () => texts()[0] === '{"bars":[1]}');
    expect(space.getSnapshot().writing[0]).toEqual({
      ...{ id: 't.1.0', author: AUTHOR, toolName: 'chart', toolCallId: 'call_1' },
      text: '{"bars":[1]}',
    });
    call(1, {});
    await until('the first runs', () => texts().join() === '{');
    // Another state of the same message begins no call.
    call(1, { status: 'complete' });
    await until('it is done', () => space.getSnapshot().messages[0]?.status === 'complete');
    expect(texts()).toEqual(['{']);
    call(2, {});
    await until('the second runs, whose id came late', () => texts().length === 0);
    api.stream.send(written(piece('{"late"', 0, { id: 't.2.0' })));
    await until('another', () => texts().length === 1);
    space.stop();
    expect(texts()).toEqual([]);
  });

  it('have no gap, and are those of the newest attempt', promise('G401', 'H52'), () => {
    const calls = new WrittenCalls();
    const texts = () => calls.all.map(({ text }) => text);
    calls.take(piece('abc'), 0);
    calls.take(piece('xyz', 9), 0);
    calls.take(piece('bcd', 1), 0);
    expect(calls.take(piece('ab'), 0)).toBeUndefined();
    expect(texts()).toEqual(['abcd']);
    // Whole again at each connection: the rest alone is new.
    expect(calls.take(piece('abcde'), 0)).toEqual(piece('e', 4));
    calls.take(piece('A', 0, { attempt: 2 }), 0);
    calls.take(piece('f', 5), 0);
    expect(texts()).toEqual(['A']);
    for (let n = 1; n < 60; n += 1) calls.take(piece('{', 0, { id: `t.2.${n}` }), 0);
    expect(texts()).toHaveLength(50);
  });

  it('are taken away when no more of them comes', () => {
    const calls = new WrittenCalls();
    calls.take(piece('a'), 0);
    calls.take(piece('b', 0, { id: 't.1.1' }), 1);
    expect(calls.forget(FORGET_MS)).toBe(true);
    expect(calls.all).toMatchObject([{ text: 'b' }]);
    expect(calls.forget(FORGET_MS)).toBe(false);
  });

  it('of another author or tool stay', () => {
    const calls = new WrittenCalls();
    calls.take(piece('a', 0, { author: { kind: 'agent', id: 'other~support' } }), 0);
    calls.take(piece('b', 0, { id: 't.1.1', toolName: 'refund' }), 0);
    calls.begins(callMessage(1, { toolName: 'chart', toolCallId: 'call_1' }));
    expect(calls.all).toHaveLength(2);
  });
});
