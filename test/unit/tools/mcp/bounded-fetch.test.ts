/** The bounds on reading a server's answer over HTTP. */
import { describe, expect, it } from 'vitest';
import { boundedFetch } from '../../../../src/tools/mcp/session/bounded-fetch.js';
import { until } from '../../../support/until.js';

const MAX = 1_000;
const CALL = JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'tools/call', params: {} });
const JSON_TYPE = { 'content-type': 'application/json' };
const EVENTS = { 'content-type': 'Text/Event-Stream; charset=utf-8' };
const TOO_LARGE = {
  jsonrpc: '2.0',
  id: 7,
  error: { code: -32_098, message: 'its answer has more than 1000 bytes and was not read' },
};

/** A body that never ends, and the number of bytes that were read of it. */
function endless(chunk: string) {
  const taken = { bytes: 0, cancelled: false };
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull: (controller) => {
      taken.bytes += chunk.length;
      controller.enqueue(new TextEncoder().encode(chunk));
    },
    cancel: () => {
      taken.cancelled = true;
    },
  });
  return { body, taken };
}

function chunks(...texts: readonly string[]): ReadableStream<Uint8Array<ArrayBuffer>> {
  return new ReadableStream({
    start: (controller) => {
      for (const text of texts) controller.enqueue(new TextEncoder().encode(text));
      controller.close();
    },
  });
}

type Body = ConstructorParameters<typeof Response>[0];

async function answered(body: Body, init: ResponseInit, request: RequestInit = {}) {
  const send = boundedFetch(() => Promise.resolve(new Response(body, init)), MAX);
  return await send('https://mcp.example.com', { method: 'POST', body: CALL, ...request });
}

describe('an answer of an MCP server', () => {
  it('that fits is returned as it came, with its status and headers', async () => {
    const init = { status: 200, headers: { ...JSON_TYPE, 'mcp-session-id': 's1' } };
    const response = await answered('{"ok":true}', init);
    expect(await response.json()).toEqual({ ok: true });
    expect(response.headers.get('mcp-session-id')).toBe('s1');
    expect((await answered(null, { status: 202 })).status).toBe(202);
    const refused = await answered('no', {
      status: 401,
      headers: { 'www-authenticate': 'Bearer' },
    });
    expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
    expect(await refused.text()).toBe('no');
  });

  it('that never ends becomes an error that answers the request, and its connection is closed', async () => {
    const { body, taken } = endless('[1,2,3],');
    const response = await answered(body, { headers: JSON_TYPE });
    expect(await response.json()).toEqual(TOO_LARGE);
    expect(taken.bytes).toBeLessThan(2 * MAX);
    expect(taken.cancelled).toBe(true);
  });

  it('to a message that expects no answer is cut', async () => {
    const { body, taken } = endless('x'.repeat(100));
    const notification = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' });
    const response = await answered(body, { status: 202 }, { body: notification });
    expect(await response.text()).toBe('');
    expect(taken.cancelled).toBe(true);
  });

  it('that is an error is read only as far as it is shown', async () => {
    const { body, taken } = endless('x'.repeat(100));
    const response = await answered(body, { status: 500 });
    expect(await response.text()).toBe('x'.repeat(MAX));
    expect(taken.cancelled).toBe(true);
  });
});

describe('a stream of events', () => {
  it.each(['\n', '\r', '\r\n'])(
    'may have any length, of events that fit, with line ends %j, with any cuts',
    async (end) => {
      const event = `data: ${'x'.repeat(300)}${end}${end}`;
      const text = event.repeat(20);
      for (const size of [1, 7, 64, 307, text.length]) {
        const pieces = text.match(new RegExp(`[\\s\\S]{1,${size}}`, 'g')) ?? [];
        const response = await answered(chunks(...pieces), { headers: EVENTS });
        expect(await response.text()).toBe(text);
      }
    },
  );

  it('with an event that never ends is closed, and the error answers the request', async () => {
    const { body, taken } = endless('data: x\n');
    const response = await answered(body, { headers: EVENTS });
    const text = await response.text();
    expect(JSON.parse(/\n\ndata: (\{.*\})\n\n$/.exec(text)?.[1] ?? '')).toEqual(TOO_LARGE);
    expect(text.length).toBeLessThan(2 * MAX);
    await until('it is hung up on', () => taken.cancelled);
  });

  it('with such an event that answers nothing breaks', async () => {
    const { body, taken } = endless(': x\n');
    const send = boundedFetch(() => Promise.resolve(new Response(body, { headers: EVENTS })), MAX);
    const response = await send('https://mcp.example.com', { method: 'GET' });
    await expect(response.text()).rejects.toThrow('more than 1000 bytes');
    await until('it is hung up on', () => taken.cancelled);
  });
});
