/**
 * Results that are too large to be shown whole: cut with a marker, and stored if there is a store. Runs in the worker.
 */

import { TEXTS } from '../../protocol/failures/texts.js';
import { MAX_BLOB_BYTES } from '../../protocol/limits/service-limits.js';
import type { BlobRef, BlobType } from '../../protocol/values/blobs.js';
import { type Json, utf8Bytes } from '../../protocol/values/json.js';
import { toWireName } from '../../protocol/values/tool-names.js';
import { cutJson, textOfJson } from '../shared/normalise.js';
import { READ_RESULTS } from './read-results.js';

/** Stores large results; the same for all calls of a conversation. */
export interface LargeResults {
  /** Stores a text. Undefined when it cannot be stored now: the result is then only cut. Never throws. */
  keep(text: string, type: BlobType): Promise<BlobRef | undefined>;
  /** Stores the bytes of a file, in the same way. Absent: files cannot be stored here. */
  keepFile?(bytes: Uint8Array): Promise<BlobRef | undefined>;
  /** True when the agent has the tool that reads stored results. */
  readonly readable: boolean;
}

/**
 * The result that the model sees: the value itself when its JSON text has at most `maxBytes`; else `{truncated: true,
 * text, note}` of that size, with the reference to the whole value if it could be stored. `text` is the beginning of
 * the stored text.
 */
export async function boundedResult(
  value: Json,
  maxBytes: number,
  large: LargeResults | undefined,
): Promise<{ readonly result: Json; readonly blob?: BlobRef }> {
  if (utf8Bytes(JSON.stringify(value)) <= maxBytes) return { result: value };
  const text = textOfJson(value);
  const fits = utf8Bytes(text) <= MAX_BLOB_BYTES;
  const type = typeof value === 'string' ? 'text/plain' : 'application/json';
  const blob = fits ? await large?.keep(text, type) : undefined;
  if (blob === undefined) return { result: cutJson(text, maxBytes, TEXTS.truncated) };
  const tool = large?.readable === true ? toWireName(READ_RESULTS) : undefined;
  const note = (shownBytes: number, totalBytes: number): string =>
    TEXTS.stored({ shownBytes, totalBytes, id: blob.id, tool });
  return { result: cutJson(text, maxBytes, note), blob };
}
