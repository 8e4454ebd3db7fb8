/**
 * Bounds bodies from outside while they are read: counting afterwards is too late to protect the memory. Runs in the
 * worker.
 */

/** The bytes that were read of a body; `whole` is false when there were more. */
export interface ReadBody {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly whole: boolean;
}

/** Reads at most this many bytes, after decompression, and drops the rest unread. @throws errors of the body */
export async function readBody(
  body: AsyncIterable<Uint8Array> | null,
  maxBytes: number,
): Promise<ReadBody> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body ?? []) {
    const space = maxBytes - size;
    chunks.push(chunk.subarray(0, space));
    size += Math.min(space, chunk.length);
    // Leaving the loop cancels the stream, and with it the connection.
    if (chunk.length > space) return { bytes: Buffer.concat(chunks), whole: false };
  }
  return { bytes: Buffer.concat(chunks), whole: true };
}
