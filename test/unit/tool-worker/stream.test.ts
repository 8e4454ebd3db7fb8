/** The stream of offers as a tool worker reads it, also of a peer that is not the API; and options that break a rule. */
import { describe, expect, it, vi } from 'vitest';
import { createToolWorker } from '../../../src/tool-worker/index.js';
import { until } from '../../support/until.js';
import { answer, offer, ScriptedApi } from './scripted-api.js';

describe('the stream', () => {
  it('is opened again after each cut, from the last id', async () => {
    const api = new ScriptedApi();
    await api.worker(() => 1);
    api.send('offer', offer('a'));
    await until('the result', () => api.of('resolution').length === 1);
    api.cut();
    await api.opened(2);
    expect(api.of('stream')[1]?.headers.get('last-event-id')).toBe('1-1');
    api.send('offer', offer('b'));
    await until('the result', () => api.of('resolution').length === 2);
    expect(api.failures).toEqual([]);
  });

  it('is opened less and less often while it ends without news', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const api = new ScriptedApi();
      const headers = { 'content-type': 'text/event-stream' };
      let opened = 0;
      api.stream = (_asked) => {
        opened += 1;
        return new Response(': open\nretry: 1000\n\n', { headers });
      };
      const worker = await api.worker(() => 1);
      await vi.advanceTimersByTimeAsync(60_000);
      expect(opened).toBeGreaterThan(5);
      expect(opened).toBeLessThan(20);
      await worker.stop({ drain: false });
    } finally {
      vi.useRealTimers();
    }
  });

  it('moves to another address when one does not answer', async () => {
    const api = new ScriptedApi();
    api.stream = ({ url }) =>
      url.host === 'one.example' ? Promise.reject(new TypeError('fetch failed')) : undefined;
    await api.worker(() => 1, { url: ['http://one.example', 'http://two.example'] });
    await api.opened();
    api.send('offer', offer('a'));
    await until('the result', () => api.of('resolution').length);
    expect(api.of('claim')[0]?.url.host).toBe('two.example');
  });

  it('that is refused is reported once, and tried again', async () => {
    const api = new ScriptedApi();
    let tries = 0;
    api.stream = (_asked) =>
      (tries += 1) < 3 ? answer({ detail: 'no', code: 'x' }, 401) : undefined;
    await api.worker(() => 1);
    await api.opened();
    expect(api.failures).toMatchObject([{ kind: 'stream' }]);
    expect(api.failures[0]?.message).toContain('401');
  });

  it.each([
    ['text that is not an event', 'hello\n\n\u0000\n\n: \n\n'],
    ['an offer that is not JSON', 'event: offer\ndata: {"ref":\n\n'],
    ['offers of no object', 'event: offer\ndata: null\n\nevent: offer\ndata: [1]\n\n'],
    ['an offer with an id that is no text', `event: offer\ndata: {"ref":{"a":1}}\n\n`],
    ['an id that is no header', 'id: \u{1f600}\nevent: offer\ndata: {}\n\n'],
    ['an unknown event', 'event: explode\ndata: {}\n\n'],
    ['an end of no offer', 'event: gone\ndata: {"ref":7}\n\nevent: gone\ndata: 1\n\n'],
    [
      'an offer with a path in its ids',
      `event: offer\ndata: ${JSON.stringify(offer('x', { conversationId: '../../admin?x=', tool: '__proto__' }))}\n\n`,
    ],
  ])('with %s leaves the worker as it was', async (_title, text) => {
    const api = new ScriptedApi();
    await api.worker(() => 1);
    api.write(text);
    api.send('offer', offer('a'));
    await until('the result', () => api.of('resolution').length);
    expect(api.of('claim').map(({ url }) => url.pathname)).toEqual([
      '/base/v1/conversations/c1/tool-calls/a/claim',
    ]);
  });

  it('with an event without an end is left, reported, and opened again', async () => {
    const api = new ScriptedApi();
    await api.worker(() => 1);
    api.write('data: ');
    for (let count = 0; count < 9; count += 1) api.write('x'.repeat(1_000_000));
    await api.opened(2);
    expect(api.failures).toMatchObject([{ kind: 'stream' }]);
    api.send('offer', offer('a'));
    await until('the result', () => api.of('resolution').length);
  });
});

describe('options that break a rule', () => {
  const good = { url: 'http://api.example', tools: { render: () => 1 } };
  it.each([
    [{ url: 'api.example' }, /url must be an address/],
    [{ url: [] }, /url must be/],
    [{ url: 'http://me:secret@api.example' }, /url must have no credentials/],
    [{ tools: {} }, /tools must have at least one/],
    [{ tools: { 'a b': () => 1 } }, /tools name "a b"/],
    [{ tools: { render: 1 } }, /tools\["render"\] must be a function/],
    [{ concurrency: 0 }, /concurrency must be a whole number from 1/],
    [{ leaseMs: 10 }, /leaseMs must be a whole number from 1000/],
    [{ token: '' }, /token must be/],
    [{ executors: ['human'] }, /executors must be/],
    [{ onError: 1 }, /onError must be/],
  ])('%j are refused by name', (options, message) => {
    expect(() => createToolWorker({ ...good, ...options } as never)).toThrow(message);
  });
});
