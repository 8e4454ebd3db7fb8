import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { describe, expect, it } from 'vitest';
import type { CanonicalEvent } from '../../../src/protocol/log/events.js';
import type { LiveEvent } from '../../../src/protocol/log/live-events.js';
import { patient } from '../../support/patience.js';
import { promise } from '../../support/promise.js';
import { sampleLog, TURN } from '../../support/samples/sample-log.js';
import { type HttpApp, startHttpApp } from '../../support/servers/http-app.js';

const DELTA: LiveEvent = {
  type: 'text_delta',
  turnId: TURN,
  step: 2,
  attempt: 1,
  messageId: `${TURN}.2`,
  offset: 0,
  text: 'Zażółć\n🙂',
};

interface Stream {
  readonly response: Response;
  readonly text: () => string;
  readonly messages: () => readonly EventSourceMessage[];
  readonly until: (done: () => boolean) => Promise<void>;
  readonly ended: Promise<void>;
  readonly leave: () => void;
}

async function open(
  app: HttpApp,
  path: string,
  headers: Record<string, string> = {},
): Promise<Stream> {
  const leaving = new AbortController();
  const response = await app.request(path, {
    headers: { accept: 'text/event-stream', ...headers },
    signal: leaving.signal,
  });
  let text = '';
  const messages: EventSourceMessage[] = [];
  const parser = createParser({ onEvent: (message) => messages.push(message) });
  const decoder = new TextDecoder();
  const read = async (): Promise<void> => {
    for await (const chunk of response.body ?? []) {
      const piece = decoder.decode(chunk as Uint8Array, { stream: true });
      text += piece;
      parser.feed(piece);
    }
  };
  const ended = read().catch(() => undefined);
  return {
    response,
    text: () => text,
    messages: () => messages,
    ended,
    leave: () => {
      leaving.abort();
    },
    until: async (done) => {
      await expect.poll(done, { timeout: patient(30_000), interval: 5 }).toBe(true);
    },
  };
}

async function startWithLog(deps: Parameters<typeof startHttpApp>[1] = {}): Promise<HttpApp> {
  const app = await startHttpApp({}, deps);
  app.reader.add('c-1', sampleLog('c-1'));
  return app;
}

describe('the event stream', () => {
  it('with ?nested=true has live events of sub-agents, which move no position', {
    ...promise('G336'),
  }, async () => {
    const app = await startHttpApp();
    const [created, turn, third] = sampleLog('c-1');
    const started = {
      type: 'child_changed',
      childId: 'k-1',
      toolCallId: 'call_1',
      name: 'research',
    };
    app.reader.live.set(3, [DELTA]);
    app.reader.add('k-1', sampleLog('k-1').slice(0, 3));
    app.reader.add('c-1', [
      created,
      turn,
      { ...third, ...started, status: 'started' },
    ] as unknown as CanonicalEvent[]);
    const stream = await open(app, '/v1/conversations/c-1/events?nested=true');
    await stream.until(() => stream.messages().some(({ event }) => event?.startsWith('nested')));
    const nested = stream.messages().find(({ event }) => event === 'nested.text_delta');
    expect(nested?.id).toBeUndefined();
    expect(JSON.parse(nested?.data ?? '')).toEqual({
      conversationId: 'k-1',
      path: [{ conversationId: 'c-1', toolCallId: 'call_1', name: 'research' }],
      event: DELTA,
    });
    stream.leave();
  });

  it('consists of these bytes', async () => {
    const app = await startHttpApp();
    const log = sampleLog('c-1').slice(0, 3);
    app.reader.live.set(3, [DELTA]);
    app.reader.add('c-1', log);
    const stream = await open(app, '/v1/conversations/c-1/events?after=1-1');
    await stream.until(
      () => stream.text().includes('live.text_delta') && stream.text().endsWith('\n\n'),
    );
    expect(stream.text()).toBe(
      [
        ': open\nretry: 2000\n\n',
        `id: 1-2\nevent: user_message\ndata: ${JSON.stringify(log[1])}\n\n`,
        `id: 1-3\nevent: turn_started\ndata: ${JSON.stringify(log[2])}\n\n`,
        `event: live.text_delta\ndata: ${JSON.stringify(DELTA)}\n\n`,
      ].join(''),
    );
    expect(stream.text()).not.toContain('\r');
    stream.leave();
  });

  it('has the headers that keep proxies from buffering it', async () => {
    const app = await startWithLog();
    const stream = await open(app, '/v1/conversations/c-1/events');
    expect(stream.response.status).toBe(200);
    expect(stream.response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    expect(stream.response.headers.get('cache-control')).toBe('no-cache, no-transform');
    expect(stream.response.headers.get('x-accel-buffering')).toBe('no');
    stream.leave();
  });

  it('resumes after every position without a gap or a repeat', promise('2.A.2'), async () => {
    const app = await startWithLog();
    for (let seen = 0; seen <= 9; seen += 1) {
      const stream = await open(app, '/v1/conversations/c-1/events', {
        'last-event-id': `1-${seen}`,
      });
      await stream.until(() => stream.messages().length >= 9 - seen);
      const ids = stream.messages().map((message) => message.id);
      expect(ids).toEqual(
        Array.from({ length: 9 - seen }, (_item, index) => `1-${seen + index + 1}`),
      );
      stream.leave();
      await stream.ended;
    }
  });

  it('prefers Last-Event-ID to the address, because a browser reconnects with both', async () => {
    const app = await startWithLog();
    const stream = await open(app, '/v1/conversations/c-1/events?after=1-2', {
      'last-event-id': '1-8',
    });
    await stream.until(() => stream.messages().length > 0);
    expect(stream.messages().map((message) => message.id)).toEqual(['1-9']);
    stream.leave();
  });

  it('continues with later events', async () => {
    const app = await startWithLog();
    const stream = await open(app, '/v1/conversations/c-1/events?after=1-9');
    await stream.until(() => stream.text().includes(': open'));
    app.reader.add('c-1', sampleLog('c-1', { closed: true }).slice(9));
    await stream.until(() => stream.messages().length === 1);
    expect(stream.messages()[0]).toMatchObject({ id: '1-10', event: 'conversation_closed' });
    stream.leave();
  });

  it('sends comments while no events arrive', async () => {
    const app = await startWithLog({ heartbeatMs: 20 });
    const stream = await open(app, '/v1/conversations/c-1/events?after=1-9');
    await stream.until(() => stream.text().includes(': ping\n\n: ping\n\n'));
    expect(stream.messages()).toEqual([]);
    stream.leave();
  });

  it('stops watching when its client disconnects', async () => {
    const app = await startWithLog();
    const stream = await open(app, '/v1/conversations/c-1/events');
    await stream.until(() => stream.messages().length === 9);
    expect(app.reader.watchers).toBe(1);
    stream.leave();
    await expect.poll(() => app.reader.watchers, { timeout: patient(30_000) }).toBe(0);
    expect((await app.request('/healthz')).status).toBe(200);
  });

  it('is ended by a server that stops', async () => {
    const app = await startWithLog();
    const stream = await open(app, '/v1/conversations/c-1/events');
    await stream.until(() => stream.messages().length === 9);
    await app.server.close();
    await stream.ended;
    expect(app.reader.watchers).toBe(0);
  });

  it('waits for a slow client instead of buffering frames', async () => {
    const app = await startHttpApp();
    const big = sampleLog('c-1').slice(0, 2);
    const text = 'x'.repeat(200_000);
    const [first, second] = big;
    if (first?.type !== 'conversation_started' || second?.type !== 'user_message')
      throw new Error('sample');
    const many = Array.from({ length: 200 }, (_item, index) => ({
      ...second,
      seq: index + 2,
      parts: [{ type: 'text' as const, text }],
    }));
    app.reader.add('c-1', [first, ...many]);
    const response = await app.request('/v1/conversations/c-1/events', {
      headers: { accept: 'text/event-stream' },
    });
    const reader = response.body?.getReader();
    await reader?.read();
    const takenLater = async (): Promise<number> => {
      await new Promise((resolve) => setTimeout(resolve, 40));
      return app.reader.taken;
    };
    // Reads until the buffers of the sockets are full.
    let taken = await takenLater();
    await expect
      .poll(
        async () => {
          const before = taken;
          taken = await takenLater();
          return taken === before;
        },
        { timeout: patient(30_000) },
      )
      .toBe(true);
    expect(taken).toBeLessThan(150);
    await reader?.cancel();
    await expect.poll(() => app.reader.watchers, { timeout: patient(30_000) }).toBe(0);
  });

  it('ends when the store fails, so that its client reconnects for the rest', async () => {
    const app = await startWithLog();
    app.reader.breaksBefore = 5;
    const stream = await open(app, '/v1/conversations/c-1/events');
    await stream.ended;
    expect(stream.messages().map((message) => message.id)).toEqual(['1-1', '1-2', '1-3', '1-4']);
    app.reader.breaksBefore = undefined;
    const again = await open(app, '/v1/conversations/c-1/events', { 'last-event-id': '1-4' });
    await again.until(() => again.messages().length === 5);
    expect(again.messages()[0]).toMatchObject({ id: '1-5', event: 'suspension' });
    again.leave();
  });

  it('has a HEAD that ends', async () => {
    const app = await startWithLog();
    const headers = { accept: 'text/event-stream' };
    const response = await app.request('/v1/conversations/c-1/events', { method: 'HEAD', headers });
    expect(response.status).toBe(200);
    expect(app.reader.watchers).toBe(0);
  });

  it('with ?create=wait opens before its conversation, and begins with its first event', {
    ...promise('G341'),
  }, async () => {
    const app = await startHttpApp();
    const stream = await open(app, '/v1/conversations/later/events?create=wait');
    expect(stream.response.status).toBe(200);
    app.reader.add('later', sampleLog('later').slice(0, 2));
    await stream.until(() => stream.messages().length === 2);
    expect(stream.messages().map(({ id }) => id)).toEqual(['1-1', '1-2']);
    stream.leave();
    const page = await app.request('/v1/conversations/later/events?create=wait');
    expect(await page.json()).toMatchObject({ errors: [{ path: '?create' }] });
    const other = await app.request('/v1/conversations/later/events?create=now');
    expect(other.status).toBe(422);
  });

  it('is a 404 for an unknown conversation and a 422 for an id that no stream sends', async () => {
    const app = await startWithLog();
    const headers = { accept: 'text/event-stream' };
    expect((await app.request('/v1/conversations/unknown/events', { headers })).status).toBe(404);
    const response = await app.request('/v1/conversations/c-1/events', {
      headers: { ...headers, 'last-event-id': 'seven' },
    });
    expect(response.status).toBe(422);
    expect(await response.json()).toMatchObject({ errors: [{ path: 'Last-Event-ID' }] });
  });
});
