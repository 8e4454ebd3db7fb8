/** Decompression with a bound that holds while it runs. Runs in applications and workers. */
import { createInflate } from 'node:zlib';

export interface Inflated {
  /** Undefined for data that is not zlib, is cut short, or inflates to more than the bound. */
  readonly bytes: Uint8Array | undefined;
  /** Bytes that were inflated until the end or the refusal: at most the bound and one chunk. */
  readonly made: number;
}

/** Fewer and larger pieces than Node's 16 KB: most payloads fit into one. */
const CHUNK_BYTES = 64 * 1024;

/** Inflates zlib data (RFC 1950) piece by piece, and stops as soon as there is more than `maxBytes`. Never throws. */
export async function inflated(data: Uint8Array, maxBytes: number): Promise<Inflated> {
  const stream = createInflate({ chunkSize: CHUNK_BYTES });
  const chunks: Uint8Array[] = [];
  let made = 0;
  try {
    stream.end(data);
    // Leaving the loop destroys the stream, and discards the rest of its output.
    for await (const chunk of stream as AsyncIterable<Uint8Array>) {
      made += chunk.byteLength;
      if (made > maxBytes) return { bytes: undefined, made };
      chunks.push(chunk);
    }
    return { bytes: Buffer.concat(chunks, made), made };
  } catch {
    return { bytes: undefined, made };
  }
}
