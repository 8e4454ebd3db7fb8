/**
 * The built-in tool by which a model reads the rest of results that were too large to be shown whole. An agent always
 * has it when it lists it: tools that come and go would invalidate the provider's prompt cache. Runs in the worker.
 */
import { z } from 'zod';
import { defineTool } from '../../define/define-tool.js';
import type { StoredResult, ToolContext } from '../../define/tool/context.js';
import { toolError } from '../../define/tool/context.js';
import { TEXTS } from '../../protocol/failures/texts.js';
import {
  MAX_BLOB_BYTES,
  MAX_FOUND_PLACES,
  MAX_READ_BYTES,
} from '../../protocol/limits/service-limits.js';

export const READ_RESULTS = 'results.read';

const DEFAULT_READ_BYTES = 16 * 1024;
/** A character has up to four bytes: a smaller page might hold none. */
const MIN_READ_BYTES = 16;
const MAX_FIND_CHARS = 200;
/** Bytes shown on either side of a match. */
const AROUND_BYTES = 160;

/**
 * Add it to an agent's `tools`, and its model can read results that were stored because they were too large: in pages
 * by `offset` and `limit`, or the places where a text occurs. Only results of its own conversation.
 */
export const readResults = defineTool({
  name: READ_RESULTS,
  description: 'Reads more of a tool result that was too large to be shown whole.',
  usage:
    'A tool result with "truncated": true shows only its beginning. Its note names the id under which all of it is stored. Read on from the byte offset that the note or the previous page names, or give "find" to see where a text occurs. Read only what you need.',
  effects: 'none',
  // The stored result may come from an untrusted tool.
  provenance: 'untrusted',
  input: z.object({
    id: z.string().max(128).describe('id of the stored result'),
    offset: z.int().min(0).max(MAX_BLOB_BYTES).optional().describe('byte to begin at; default 0'),
    limit: z
      .int()
      .min(MIN_READ_BYTES)
      .max(MAX_READ_BYTES)
      .optional()
      .describe(`bytes to read; default ${DEFAULT_READ_BYTES}`),
    find: z
      .string()
      .min(1)
      .max(MAX_FIND_CHARS)
      .optional()
      .describe(
        'text to look for, to the letter, from offset on; shows the places instead of a page',
      ),
  }),
  run: async ({ id, offset = 0, limit = DEFAULT_READ_BYTES, find }, ctx) => {
    // A character that begins before the limit is read to its end.
    const wanted = { offset, length: find === undefined ? limit + 3 : MAX_BLOB_BYTES };
    const stored = await read(ctx, id, wanted);
    if (stored === 'unavailable') return toolError(TEXTS.storedUnavailable);
    if (stored === undefined) return toolError(TEXTS.storedUnknown(id));
    return find === undefined ? pageOf(stored, offset, limit) : placesOf(stored, offset, find);
  },
});

/**
 * Reads a stored result. Errors of the store go to the log only: they name files and hosts, and the model has no use
 * for them.
 */
async function read(
  { storedResults, logger }: Pick<ToolContext, 'storedResults' | 'logger'>,
  id: string,
  range: { readonly offset: number; readonly length: number },
): Promise<StoredResult | 'unavailable' | undefined> {
  try {
    return await storedResults.read(id, range);
  } catch (error) {
    logger.warn('stored result not read', { reason: String(error) });
    return 'unavailable';
  }
}

function pageOf({ bytes, content }: StoredResult, offset: number, limit: number) {
  const skipped = continuation(content, 0);
  const end = wholeEnd(content, Math.min(content.length, Math.max(limit, skipped)));
  const next = offset + end;
  return {
    offset: offset + skipped,
    totalBytes: bytes,
    text: textOf(content, skipped, end),
    ...(next < bytes ? { nextOffset: next } : {}),
  };
}

function placesOf({ bytes, content }: StoredResult, offset: number, find: string) {
  const buffer = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
  const wanted = Buffer.from(find);
  const places: { offset: number; text: string }[] = [];
  let at = buffer.indexOf(wanted);
  while (at >= 0 && places.length < MAX_FOUND_PLACES) {
    const from = Math.max(0, at - AROUND_BYTES);
    const to = wholeEnd(content, Math.min(content.length, at + wanted.length + AROUND_BYTES));
    places.push({
      offset: offset + at,
      text: textOf(content, from + continuation(content, from), to),
    });
    at = buffer.indexOf(wanted, at + wanted.length);
  }
  return { totalBytes: bytes, places, ...(at < 0 ? {} : { nextOffset: offset + at }) };
}

/** Number of bytes from `start` that belong to a character that began before. */
function continuation(content: Uint8Array, start: number): number {
  let count = 0;
  while (count < 3 && isContinuation(content[start + count])) count += 1;
  return count;
}

/** Returns `end`, or the start of the character that it would split. */
function wholeEnd(content: Uint8Array, end: number): number {
  if (end >= content.length) return content.length;
  let whole = end;
  while (whole > end - 3 && whole > 0 && isContinuation(content[whole])) whole -= 1;
  return isContinuation(content[whole]) ? end : whole;
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}

function textOf(content: Uint8Array, from: number, to: number): string {
  return Buffer.from(content.buffer, content.byteOffset, content.byteLength).toString(
    'utf8',
    from,
    to,
  );
}
