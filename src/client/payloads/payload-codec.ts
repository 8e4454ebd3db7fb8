/**
 * Compression of large payloads between Temporal's server and its clients and workers. The format is that of the zlib
 * codec of Temporal's Go SDK (encoding `binary/zlib` around the whole payload), so that other clients and codec servers
 * can read it. Runs in applications and workers, never in the workflow sandbox.
 */
import { promisify } from 'node:util';
import { deflate } from 'node:zlib';
import type { Payload, PayloadCodec } from '@temporalio/common';
// CommonJS, whose names Node does not see.
import proto from '@temporalio/proto';
import { COMPRESS_FROM_BYTES } from '../../protocol/limits/limits.js';
import {
  MAX_INFLATED_BYTES,
  MAX_INFLATED_SUM_BYTES,
} from '../../protocol/limits/service-limits.js';
import { PLAIN_METADATA } from '../../protocol/workflow/messaging.js';
import { inflated } from './inflate.js';

const deflated = promisify(deflate);
const { Payload: Wire } = proto.temporal.api.common.v1;
const encoding = Buffer.from('binary/zlib');

export interface CompressionOptions {
  /** False only reads payloads that others have compressed. @defaultValue true */
  readonly writes?: boolean | undefined;
}

/**
 * Compresses payloads of 8 KB to 4 MiB, if that makes them smaller, and reads compressed and plain ones alike. A
 * payload that is marked as compressed and cannot be inflated is passed on as it is: any client may send any signal,
 * and it must not fail a task. The same holds for a payload of more than 4 MiB after decompression, and for all
 * payloads after the first 32 MiB of output in one call. Replies to callers stay plain, so they need no codec. Throws
 * nothing; both directions are safe to repeat.
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
    const passed: Payload[] = [];
    let left = MAX_INFLATED_SUM_BYTES;
    // One after the other: in parallel, all of them would have begun before the first had counted.
    for (const payload of payloads) {
      const { result, made } = await restored(payload, left);
      left -= made;
      passed.push(result);
    }
    return passed;
  }

  async #encoded(payload: Payload): Promise<Payload> {
    if (payload.metadata?.[PLAIN_METADATA] !== undefined) return withoutMark(payload);
    return this.#writes ? await compressed(payload) : payload;
  }
}

/**
 * Removes the marker, because the temporal command shows a payload as text only when its encoding is its only metadata.
 */
function withoutMark(payload: Payload): Payload {
  const { [PLAIN_METADATA]: _mark, ...metadata } = payload.metadata ?? {};
  return { ...payload, metadata };
}

async function compressed(payload: Payload): Promise<Payload> {
  const size = payload.data?.byteLength ?? 0;
  if (size <= COMPRESS_FROM_BYTES || isCompressed(payload)) return payload;
  const whole = Wire.encode(payload).finish();
  // No reader could inflate it again.
  if (whole.byteLength > MAX_INFLATED_BYTES) return payload;
  const data = await deflated(whole);
  return data.byteLength < size ? { metadata: { encoding }, data } : payload;
}

interface Restored {
  readonly result: Payload;
  /** Bytes that the decompression produced, used or not. */
  readonly made: number;
}

async function restored(payload: Payload, left: number): Promise<Restored> {
  const { data } = payload;
  if (!isCompressed(payload) || !data || left <= 0) return { result: payload, made: 0 };
  const { bytes, made } = await inflated(data, Math.min(MAX_INFLATED_BYTES, left));
  return { result: (bytes && payloadIn(bytes)) ?? payload, made };
}

/** Undefined for bytes that are not a payload. */
function payloadIn(bytes: Uint8Array): Payload | undefined {
  try {
    const { metadata, data } = Wire.decode(bytes);
    // A payload without data decodes to an array of no numbers.
    return { metadata, data: data instanceof Uint8Array ? data : new Uint8Array() };
  } catch {
    return undefined;
  }
}

function isCompressed({ metadata }: Payload): boolean {
  const given = metadata?.['encoding'];
  return given instanceof Uint8Array && encoding.equals(given);
}
