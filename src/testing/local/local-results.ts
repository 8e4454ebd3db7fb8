/** Large results of a test conversation: kept in memory, under the ids that a store would give them. */
import { createHash } from 'node:crypto';
import type { AnyAgent } from '../../define/define-agent.js';
import type { StoredResult, StoredResults } from '../../define/tool/context.js';
import type { BlobRef, BlobType } from '../../protocol/values/blobs.js';
import type { LargeResults } from '../../tools/results/large-results.js';
import { READ_RESULTS } from '../../tools/results/read-results.js';

export class LocalResults implements LargeResults, StoredResults {
  readonly readable: boolean;
  readonly #known = new Map<string, StoredResult>();

  constructor(agent: AnyAgent) {
    this.readable = agent.tools.some(({ name }) => name === READ_RESULTS);
  }

  keep(text: string, type: BlobType): Promise<BlobRef> {
    return this.#put(Buffer.from(text), type);
  }

  keepFile(bytes: Uint8Array): Promise<BlobRef> {
    return this.#put(Buffer.from(bytes), 'application/octet-stream');
  }

  async #put(content: Buffer, type: BlobType): Promise<BlobRef> {
    const id = createHash('sha256').update(`${type}\n`).update(content).digest('hex');
    const ref = { bytes: content.byteLength, type };
    this.#known.set(id, { ...ref, content });
    return { id, ...ref };
  }

  async read(
    id: string,
    range: { readonly offset: number; readonly length: number } = { offset: 0, length: Infinity },
  ): Promise<StoredResult | undefined> {
    const found = this.#known.get(id);
    if (found === undefined) return undefined;
    const { offset, length } = range;
    return { ...found, content: found.content.subarray(offset, offset + length) };
  }
}
