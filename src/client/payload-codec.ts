/**
 * Compression of large payloads between Temporal's server and whoever reads or writes them. The form is that of the zlib codec of
 * Temporal's Go SDK (encoding `binary/zlib` around the whole payload), so that other clients and codec servers know it. Runs in
 * applications and workers, never in the workflow sandbox.
 */
import { promisify } from 'node:util';
import { deflate, inflate } from 'node:zlib';
import type { Payload, PayloadCodec } from '@temporalio/common';
// CommonJS, whose names Node does not see.
import proto from '@temporalio/proto';
import { COMPRESS_FROM_BYTES, MAX_INFLATED_BYTES } from '../protocol/limits.js';
import { PLAIN_METADATA } from '../protocol/messaging.js';

const deflated = promisify(deflate);
const inflated = promisify(inflate);
const { Payload: Wire } = proto.temporal.api.common.v1;
const encoding = Buffer.from('binary/zlib');

export interface CompressionOptions {
  /** False only reads what others have compressed. @defaultValue true */
  readonly writes?: boolean | undefined;
}

/**
 * Compresses payloads of more than 8 KB, where that makes them smaller, and reads compressed and plain ones alike. What is marked
 * as compressed and cannot be inflated is passed on as it is: anybody may signal anything, and it must not fail a task. What
 * callers are answered stays plain, so they need no codec. Throws nothing; both directions are safe to repeat.
 * @example new Client({ connection, dataConverter: { payloadCodecs: [new CompressionCodec()] } })
 */
export class CompressionCodec implements PayloadCodec {
  readonly #writes: boolean;

  constructor({ writes = true }: CompressionOptions = {}) {
    this.#writes = writes;
  }

  async encode(payloads: Payload[]): Promise<Payload[]> {
    return await Promise.all(payloads.map((payload) => this.#encoded(payload)));
  }

  async decode(payloads: Payload[]): Promise<Payload[]> {
    return await Promise.all(payloads.map(restored));
  }

  async #encoded(payload: Payload): Promise<Payload> {
    if (payload.metadata?.[PLAIN_METADATA] !== undefined) return withoutMark(payload);
    return this.#writes ? await compressed(payload) : payload;
  }
}

/** The temporal command shows a payload as text only when its encoding is all that it says. */
function withoutMark(payload: Payload): Payload {
  const { [PLAIN_METADATA]: _mark, ...metadata } = payload.metadata ?? {};
  return { ...payload, metadata };
}

async function compressed(payload: Payload): Promise<Payload> {
  const size = payload.data?.byteLength ?? 0;
  if (size <= COMPRESS_FROM_BYTES || isCompressed(payload)) return payload;
  const data = await deflated(Wire.encode(payload).finish());
  return data.byteLength < size ? { metadata: { encoding }, data } : payload;
}

async function restored(payload: Payload): Promise<Payload> {
  const { data } = payload;
  if (!isCompressed(payload) || !data) return payload;
  try {
    const { metadata, data: bytes } = Wire.decode(
      await inflated(data, { maxOutputLength: MAX_INFLATED_BYTES }),
    );
    return { metadata, data: bytes };
  } catch {
    return payload;
  }
}

function isCompressed({ metadata }: Payload): boolean {
  const given = metadata?.['encoding'];
  return given !== undefined && encoding.equals(given);
}
