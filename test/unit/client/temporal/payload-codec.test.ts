/** The codec alone: which payloads it compresses, and that every payload comes back as it was. */
import { deflateSync } from 'node:zlib';
import { defaultPayloadConverter, type Payload } from '@temporalio/common';
import { describe, expect, it } from 'vitest';
import { throughCodecs } from '../../../../src/client/payloads/codec-json.js';
import { CompressionCodec } from '../../../../src/client/payloads/payload-codec.js';
import { COMPRESS_FROM_BYTES } from '../../../../src/protocol/limits/limits.js';
import { MAX_INFLATED_BYTES } from '../../../../src/protocol/limits/service-limits.js';
import { PLAIN_METADATA } from '../../../../src/protocol/workflow/messaging.js';
import { promise } from '../../../support/promise.js';

const LONG = { text: 'Grüße, 漢字 and 🚲. '.repeat(2_000) };
const codec = new CompressionCodec();
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

function payloadOf(value: unknown): Payload {
  return defaultPayloadConverter.toPayload(value);
}

function encodingOf({ metadata }: Payload): string {
  return Buffer.from(metadata?.['encoding'] ?? []).toString();
}

async function encoded(payload: Payload, by = codec): Promise<Payload> {
  const [first = {}] = await by.encode([payload]);
  return first;
}

async function decoded(payload: Payload): Promise<Payload> {
  const [first = {}] = await codec.decode([payload]);
  return first;
}

describe('a payload of more than 8 KB', () => {
  it('becomes smaller, in the form of the zlib codec of other SDKs, and comes back as it was', {
    ...promise('G281'),
  }, async () => {
    const payload = payloadOf(LONG);
    const small = await encoded(payload);
    expect(encodingOf(small)).toBe('binary/zlib');
    expect(small.data?.byteLength).toBeLessThan((payload.data?.byteLength ?? 0) / 10);
    const back = await decoded(small);
    expect(encodingOf(back)).toBe('json/plain');
    expect(defaultPayloadConverter.fromPayload(back)).toEqual(LONG);
  });

  it('keeps the other fields of its metadata', async () => {
    const { data = null } = payloadOf(LONG);
    const payload = { metadata: { encoding: bytes('json/plain'), mine: bytes('kept') }, data };
    const back = await decoded(await encoded(payload));
    expect(Buffer.from(back.metadata?.['mine'] ?? []).toString()).toBe('kept');
  });

  it('is left alone when it would not become smaller', async () => {
    const data = crypto.getRandomValues(new Uint8Array(20_000));
    const payload = { metadata: { encoding: bytes('binary/plain') }, data };
    expect(await encoded(payload)).toBe(payload);
  });

  it('is left alone when it answers a caller, which may have no codec', async () => {
    const payload = payloadOf(LONG);
    const marked = {
      ...payload,
      metadata: { ...payload.metadata, [PLAIN_METADATA]: bytes('true') },
    };
    // The mark is gone, too: the temporal command would show the payload as base64.
    for (const writes of [true, false])
      expect(await encoded(marked, new CompressionCodec({ writes }))).toEqual(payload);
  });

  it('is compressed once, however often it is encoded', async () => {
    const once = await encoded(payloadOf(LONG));
    expect(await encoded(once)).toBe(once);
  });
});

describe('an uncompressed payload', () => {
  it.each([
    ['8 KB', { metadata: {}, data: new Uint8Array(COMPRESS_FROM_BYTES) }],
    ['nothing', { metadata: { encoding: bytes('binary/null') } }],
    ['no metadata', {}],
  ])('%s', async (_name, payload: Payload) => {
    expect(await encoded(payload)).toBe(payload);
    expect(await decoded(payload)).toBe(payload);
  });

  it.each([
    ['garbage', bytes('no zlib at all')],
    ['zlib of something that is no payload', deflateSync(Buffer.alloc(20, 0xff))],
    [
      'a few bytes that would become more than the bound',
      deflateSync(Buffer.alloc(MAX_INFLATED_BYTES + 1)),
    ],
    ['nothing', new Uint8Array()],
  ])('%s under the name of compressed data, without an error', async (_name, data) => {
    const payload = { metadata: { encoding: bytes('binary/zlib') }, data };
    expect(await decoded(payload)).toBe(payload);
  });
});

describe('payloads that are decoded together', () => {
  it('are left compressed from the place where their sum exceeds 32 MiB', {
    ...promise('G285'),
  }, async () => {
    const one = await encoded({ metadata: {}, data: new Uint8Array(MAX_INFLATED_BYTES - 1024) });
    const payloads = await codec.decode(Array.from({ length: 20 }, () => one));
    expect(payloads.map((payload) => encodingOf(payload) === 'binary/zlib')).toEqual(
      Array.from({ length: 20 }, (_, index) => index >= 8),
    );
  });

  it('count the output of unusable ones, up to their bound', {
    ...promise('G285'),
  }, async () => {
    const bomb = {
      metadata: { encoding: bytes('binary/zlib') },
      data: deflateSync(Buffer.alloc(MAX_INFLATED_BYTES + 1)),
    };
    const good = await encoded(payloadOf(LONG));
    const decode = async (bombs: number): Promise<Payload | undefined> =>
      (await codec.decode([...Array.from({ length: bombs }, () => bomb), good])).at(-1);
    expect(encodingOf((await decode(7)) ?? {})).toBe('json/plain');
    expect(await decode(9)).toBe(good);
  });
});

describe('a payload of more than 4 MiB', () => {
  it('is not compressed, because it would not be read again', async () => {
    const payload = { metadata: {}, data: new Uint8Array(MAX_INFLATED_BYTES) };
    expect(await encoded(payload)).toBe(payload);
    const largest = { metadata: {}, data: new Uint8Array(MAX_INFLATED_BYTES - 1024) };
    expect((await decoded(await encoded(largest))).data?.byteLength).toBe(largest.data.byteLength);
  });
});

describe('switched off', () => {
  it('nothing is compressed, and compressed payloads are read', async () => {
    const off = new CompressionCodec({ writes: false });
    const payload = payloadOf(LONG);
    expect(await encoded(payload, off)).toBe(payload);
    const [back = {}] = await off.decode([await encoded(payload)]);
    expect(defaultPayloadConverter.fromPayload(back)).toEqual(LONG);
  });
});

describe('payloads in the JSON of codec endpoints', () => {
  it('go through all codecs, and back in the opposite order', async () => {
    const order: string[] = [];
    const named = (name: string) => ({
      encode: async (payloads: Payload[]) => (order.push(`${name} encodes`), payloads),
      decode: async (payloads: Payload[]) => (order.push(`${name} decodes`), payloads),
    });
    const codecs = [named('first'), codec, named('last')];
    const data = Buffer.from(JSON.stringify(LONG)).toString('base64');
    const json = { metadata: { encoding: Buffer.from('json/plain').toString('base64') }, data };
    const there = await throughCodecs(codecs, 'encode', [json]);
    expect(there[0]?.data?.length).toBeLessThan(data.length / 10);
    expect(await throughCodecs(codecs, 'decode', there)).toEqual([json]);
    expect(order).toEqual(['first encodes', 'last encodes', 'last decodes', 'first decodes']);
  });
});
