/** The codec endpoint as Temporal's UI and command line use it. */
import { deflateSync } from 'node:zlib';
import type { Payload } from '@temporalio/common';
import proto from '@temporalio/proto';
import { describe, expect, it } from 'vitest';
import { CompressionCodec } from '../../../src/client/payloads/payload-codec.js';
import {
  MAX_CODEC_BODY_BYTES,
  MAX_INFLATED_BYTES,
  MAX_INFLATED_SUM_BYTES,
} from '../../../src/protocol/limits/service-limits.js';
import { promise } from '../../support/promise.js';
import { type HttpApp, startHttpApp } from '../../support/servers/http-app.js';

const UI = 'http://localhost:8233';
const ENCODING = Buffer.from('json/plain').toString('base64');
/** A payload of a history page, far over the limit of other bodies. */
const LARGE = {
  metadata: { encoding: ENCODING },
  data: Buffer.from(JSON.stringify({ text: 'word '.repeat(250_000) })).toString('base64'),
};
const SMALL = { metadata: { encoding: ENCODING }, data: Buffer.from('7').toString('base64') };

interface Body {
  readonly payloads: readonly { metadata: Record<string, string>; data?: string }[];
}

async function withCodec(): Promise<HttpApp> {
  return await startHttpApp({}, { codec: { codecs: [new CompressionCodec()], origins: [UI] } });
}

async function passed(app: HttpApp, path: string, payloads: readonly object[]): Promise<Body> {
  const response = await app.post(path, { payloads }, { 'x-namespace': 'default' });
  expect(response.status).toBe(200);
  return (await response.json()) as Body;
}

const ZLIB = Buffer.from('binary/zlib').toString('base64');

/** A payload with `bytes` bytes of data, compressed by some codec to a thousandth. */
function bomb(bytes: number): { metadata: Record<string, string>; data: string } {
  const encoding = Buffer.from('json/plain');
  const whole = proto.temporal.api.common.v1.Payload.encode({
    metadata: { encoding },
    data: Buffer.alloc(bytes, 0x20),
  }).finish();
  return { metadata: { encoding: ZLIB }, data: deflateSync(whole).toString('base64') };
}

/** The number of bytes of all data in an answer, and of payloads that are still compressed. */
function sumOf({ payloads }: Body): { bytes: number; compressed: number } {
  return {
    bytes: payloads.reduce((sum, { data = '' }) => sum + (data.length / 4) * 3, 0),
    compressed: payloads.filter(({ metadata }) => metadata['encoding'] === ZLIB).length,
  };
}

describe('the codec endpoint', () => {
  it('returns payloads as they were before compression, in order', async () => {
    const app = await withCodec();
    const { payloads } = await passed(app, '/codec/encode', [LARGE, SMALL]);
    expect(payloads[0]?.data?.length).toBeLessThan(LARGE.data.length / 100);
    expect(payloads[1]).toEqual(SMALL);
    expect((await passed(app, '/codec/decode', payloads)).payloads).toEqual([LARGE, SMALL]);
    expect(await passed(app, '/codec/decode', [])).toEqual({ payloads: [] });
  });

  it('passes on payloads that it cannot decode', async () => {
    const app = await withCodec();
    const encoding = Buffer.from('binary/zlib').toString('base64');
    const broken = { metadata: { encoding }, data: Buffer.from('broken').toString('base64') };
    expect(await passed(app, '/codec/decode', [broken])).toEqual({ payloads: [broken] });
  });

  it.each([
    ['one after the other makes 31 MiB', 31 * 1024 * 1024, 8, 0],
    ['each stays within the bound of one', MAX_INFLATED_BYTES - 1024, 100, 8],
  ])(
    'returns at most 32 MiB for payloads of which %s',
    promise('G285'),
    async (_name, size, count, decoded) => {
      const app = await withCodec();
      const payloads = Array<object>(count).fill(bomb(size));
      const sum = sumOf(await passed(app, '/codec/decode', payloads));
      // Payloads that stay compressed add a thousandth.
      expect(sum.bytes).toBeLessThan(1.02 * MAX_INFLATED_SUM_BYTES);
      expect(count - sum.compressed).toBe(decoded);
    },
  );

  it(
    'refuses payloads that a codec of the application makes too large',
    promise('G285'),
    async () => {
      const grow = async (payloads: Payload[]): Promise<Payload[]> =>
        payloads.map((payload) => ({ ...payload, data: Buffer.alloc(MAX_INFLATED_BYTES) }));
      const codecs = [{ encode: grow, decode: grow }];
      const app = await startHttpApp({}, { codec: { codecs, origins: [] } });
      for (const path of ['/codec/decode', '/codec/encode']) {
        const payloads = Array.from({ length: 9 }, () => SMALL);
        expect((await app.post(path, { payloads })).status).toBe(413);
      }
    },
  );

  it.each([
    ['zlib of nothing', { metadata: { encoding: ZLIB }, data: 'eJwDAAAAAAE=' }],
    ['no data', { metadata: { encoding: ZLIB } }],
    ['data of null', { metadata: { encoding: ZLIB }, data: null }],
    ['data of no bytes', { metadata: { encoding: ZLIB }, data: '' }],
    ['no metadata', { data: 'AAAA' }],
    ['metadata of null', { metadata: null, data: null }],
    [
      'names of the prototype',
      JSON.parse('{"metadata":{"__proto__":"AAAA","constructor":"AAAA"}}'),
    ],
    ['an encoding of no bytes', { metadata: { encoding: '' }, data: 'AAAA' }],
  ])(
    'answers a payload with %s with one payload',
    promise('G286'),
    async (_name, payload: object) => {
      const app = await withCodec();
      for (const path of ['/codec/decode', '/codec/encode']) {
        const { payloads } = await passed(app, path, [payload, SMALL]);
        expect(payloads).toHaveLength(2);
        expect(payloads[1]).toEqual(SMALL);
      }
    },
  );

  it.each([
    ['payloads', { payloads: Array.from({ length: 10_001 }, () => ({})) }, '/payloads'],
    [
      'metadata of one payload',
      {
        payloads: [
          { metadata: Object.fromEntries(Array.from({ length: 101 }, (_, n) => [n, ''])) },
        ],
      },
      '/payloads/0/metadata',
    ],
  ])(
    'refuses too many %s by the name of the field',
    promise('G286'),
    async (_name, body, field) => {
      const response = await (await withCodec()).post('/codec/decode', body);
      expect(response.status).toBe(422);
      expect(await response.json()).toMatchObject({ errors: [{ path: field }] });
    },
  );

  it('can be used by pages of the configured UI', promise('G287'), async () => {
    const app = await withCodec();
    const preflight = await app.request('/codec/decode', {
      method: 'OPTIONS',
      headers: {
        origin: UI,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'content-type,x-namespace',
        'access-control-request-private-network': 'true',
      },
    });
    expect(preflight.status).toBe(204);
    expect(Object.fromEntries(preflight.headers)).toMatchObject({
      'access-control-allow-origin': UI,
      'access-control-allow-methods': 'POST',
      'access-control-allow-headers': 'content-type,x-namespace',
      'access-control-allow-private-network': 'true',
      vary: 'Origin',
    });
    const headers = { origin: UI, 'x-namespace': 'default' };
    const response = await app.post('/codec/decode', { payloads: [SMALL] }, headers);
    expect(response.headers.get('access-control-allow-origin')).toBe(UI);
  });

  it.each([
    'http://localhost:8234',
    'https://localhost:8233',
    'null',
    'http://localhost:8233.evil',
  ])('cannot be used by pages of %s', async (origin) => {
    const app = await withCodec();
    for (const method of ['OPTIONS', 'POST']) {
      const response = await app.request('/codec/decode', { method, headers: { origin } });
      expect(response.headers.get('access-control-allow-origin')).toBeNull();
    }
  });

  it.each([
    ['no payloads', {}, '/payloads'],
    ['data that is not base64', { payloads: [{ data: '?' }] }, '/payloads/0/data'],
    ['metadata of numbers', { payloads: [{ metadata: { a: 1 } }] }, '/payloads/0/metadata/a'],
  ])('refuses %s by the name of the field', async (_name, body, field) => {
    const response = await (await withCodec()).post('/codec/decode', body);
    expect(response.status).toBe(422);
    expect(JSON.stringify(await response.json())).toContain(field);
  });

  it('refuses a body over its limit, another type and another method', async () => {
    const app = await withCodec();
    const large = { payloads: [{ data: 'A'.repeat(MAX_CODEC_BODY_BYTES) }] };
    expect((await app.post('/codec/decode', large)).status).toBe(413);
    const text = { method: 'POST', headers: { 'content-type': 'text/plain' }, body: '{}' };
    expect((await app.request('/codec/decode', text)).status).toBe(415);
    expect((await app.request('/codec/decode')).status).toBe(405);
  });

  it('does not exist unless it is configured', async () => {
    const app = await startHttpApp();
    expect((await app.post('/codec/decode', { payloads: [] })).status).toBe(404);
  });
});
