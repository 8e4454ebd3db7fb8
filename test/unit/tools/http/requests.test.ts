/** Requests of an HTTP tool. Scenario S30. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { httpTool, jsonSchema } from '../../../../src/index.js';
import { promise } from '../../../support/promise.js';
import {
  envelopeOf,
  errorOf,
  json,
  type Peer,
  startPeer,
} from '../../../support/servers/http-peer.js';

const described = {
  name: 'orders.find',
  description: 'Finds orders.',
  allowPrivate: true,
} as const;
const open = jsonSchema<Record<string, never>>({ type: 'object' });

async function sent(
  peer: Peer,
  fields: Readonly<Record<string, unknown>>,
  input: Readonly<Record<string, never>> = {},
) {
  const tool = httpTool({ ...described, input: open, method: 'GET', url: peer.url, ...fields });
  const envelope = await envelopeOf(tool, { input });
  return { request: peer.requests.at(-1), envelope };
}

describe('an HTTP tool', () => {
  it('sends the input of a GET in path and query, and its answer is the result (S30, H21, H27)', {
    ...promise('S24', 'S30', 'H12', 'H15', 'H21', 'H24', 'H27'),
  }, async () => {
    await using peer = await startPeer(json({ celsius: 21 }));
    const tool = httpTool({
      ...described,
      input: z.object({
        city: z.string(),
        days: z.int().default(3),
        units: z.array(z.string()).optional(),
      }),
      output: z.object({ celsius: z.number() }),
      method: 'GET',
      url: `${peer.url}/v1/{city}/weather`,
      fixedQuery: { lang: 'en' },
    });
    const envelope = await envelopeOf(tool, {
      input: { city: 'São Paulo/1', days: 3, units: ['c', 'f&g'] },
    });
    expect(envelope).toEqual({ ok: true, result: { celsius: 21 } });
    expect(peer.requests).toMatchObject([
      {
        method: 'GET',
        target: '/v1/S%C3%A3o%20Paulo%2F1/weather?days=3&units=c&units=f%26g&lang=en',
        body: '',
        headers: { accept: 'application/json, application/*+json;q=0.9', 'user-agent': 'colloquy' },
      },
    ]);
    expect(peer.requests[0]?.headers).not.toHaveProperty('idempotency-key');
  });

  it('sends the rest of the input of a POST as JSON, with the key of the call', async () => {
    await using peer = await startPeer(json({ id: 7 }, 201));
    const url = `${peer.url}/orders/{shop}`;
    const { request, envelope } = await sent(peer, { method: 'POST', url }, {
      shop: 'a',
      lines: [{ sku: 'x' }],
      note: null,
    } as never);
    expect(envelope).toEqual({ ok: true, result: { id: 7 } });
    expect(request?.body).toBe('{"lines":[{"sku":"x"}],"note":null}');
    expect(request?.headers).toMatchObject({
      'content-type': 'application/json',
      'idempotency-key': 'key-1',
    });
  });

  it('sends fields where its definition puts them', promise('H12'), async () => {
    await using peer = await startPeer(json(null));
    const input = { a: 1, b: 'two', c: true } as never;
    const post = { method: 'POST', query: ['a'] };
    expect((await sent(peer, post, input)).request).toMatchObject({
      target: '/?a=1',
      body: '{"b":"two","c":true}',
    });
    const form = { method: 'PUT', body: ['b', 'c'], bodyType: 'form', idempotencyHeader: 'X-Key' };
    expect((await sent(peer, form, input)).request).toMatchObject({
      target: '/',
      body: 'b=two&c=true',
      headers: { 'content-type': 'application/x-www-form-urlencoded', 'x-key': 'key-1' },
    });
    const made = {
      method: 'DELETE',
      query: ({ a }: { a: number }) => ({ page: a + 1, none: undefined }),
      body: ({ b }: { b: string }) => [b],
      idempotencyHeader: false,
    };
    const { request } = await sent(peer, made, input);
    expect(request).toMatchObject({ method: 'DELETE', target: '/?page=2', body: '["two"]' });
    expect(request?.headers).not.toHaveProperty('idempotency-key');
  });

  it('sends headers that are made of the input, and none that would make another', {
    ...promise('G135'),
  }, async () => {
    await using peer = await startPeer(json(null));
    const headers = { 'X-User': ({ user }: { user: string }) => user };
    const { request } = await sent(peer, { headers, query: [] }, { user: 'ann' } as never);
    expect(request?.headers['x-user']).toBe('ann');
    for (const user of ['a\r\nx-admin: 1', 'a\nb', 'a\u0000', '\u{1f600}']) {
      const { envelope } = await sent(peer, { headers, query: [] }, { user } as never);
      expect(envelope).toMatchObject({
        ok: false,
        error: {
          message:
            'The request was not sent: header "X-User" must be printable Latin-1 on one line',
        },
      });
    }
    expect(peer.requests).toHaveLength(1);
  });

  it('sends nothing when a value cannot stand in its place', promise('G135'), async () => {
    await using peer = await startPeer(json(null));
    const tool = httpTool({ ...described, input: open, method: 'GET', url: `${peer.url}/{id}` });
    expect(await errorOf(tool, { input: { id: '../admin' } })).toBe(
      'The request was not sent: id must not be or hold a path segment of dots',
    );
    expect(await errorOf(tool, { input: { id: 'a', filter: { b: 1 } } })).toBe(
      'The request was not sent: filter must be a text, a number, a truth value or a list of them',
    );
    expect(peer.requests).toEqual([]);
  });

  it('sends a digest of a key that cannot be a header, the same in every attempt', async () => {
    await using peer = await startPeer(json(null));
    const tool = httpTool({ ...described, input: open, method: 'PUT', url: peer.url });
    for (let attempt = 1; attempt <= 2; attempt += 1)
      await envelopeOf(tool, { idempotencyKey: `default/ü\n${'x'.repeat(400)}` });
    const [first, second] = peer.requests.map(({ headers }) => headers['idempotency-key']);
    expect(first).toMatch(/^[0-9a-f]{64}$/);
    expect(second).toBe(first);
  });

  it('uses a connection again, unless a second request would do harm', async () => {
    await using peer = await startPeer(json(null));
    const get = httpTool({ ...described, input: open, method: 'GET', url: peer.url });
    await envelopeOf(get);
    // A connection is free a moment after its answer was read.
    await new Promise(setImmediate);
    await envelopeOf(get);
    expect(peer.sockets.opened).toBe(1);
    const post = httpTool({ ...described, input: open, method: 'POST', url: peer.url });
    await envelopeOf(post);
    await envelopeOf(post);
    expect(peer.sockets.opened).toBe(3);
  });

  it(
    'refuses addresses that are not public, before it sends anything',
    promise('G136'),
    async () => {
      await using peer = await startPeer(json('secret'));
      const guarded = { ...described, allowPrivate: ['10.0.0.0/8'] };
      for (const host of [
        '127.0.0.1',
        '[::ffff:127.0.0.1]',
        '0x7f000001',
        '2130706433',
        'localhost',
      ]) {
        // A number is a name to a template, and an address to the connection.
        const url = `http://${host}:${peer.port}/`;
        const tool = httpTool({ ...guarded, input: open, method: 'GET', url });
        expect(await errorOf(tool)).toMatch(
          /^The request was not sent: ".+" has no address that may be reached$/,
        );
      }
      expect(peer.sockets.opened).toBe(0);
    },
  );
});
