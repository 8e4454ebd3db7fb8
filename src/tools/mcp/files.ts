/**
 * Images, sounds and other files in a server's result, judged by their bytes and not by the declared type: a provider
 * refuses every later request of a conversation that holds an invalid image. Pure; runs in the worker.
 */

import { MAX_MCP_FILE_BYTES } from '../../define/mcp/limits.js';
import type { ToolFile } from '../../define/tool/files.js';

/** A file that a server sent as base64. */
export interface SentFile {
  readonly data: unknown;
  readonly mediaType: string;
  readonly filename?: string;
}

/** The first bytes of the kinds of files that are shown to models. */
const SIGNATURES: readonly (readonly [mediaType: string, begins: RegExp])[] = [
  ['image/png', /^\x89PNG\r\n\x1a\n/],
  ['image/jpeg', /^\xff\xd8\xff/],
  ['image/gif', /^GIF8[79]a/],
  ['image/webp', /^RIFF[\s\S]{4}WEBP/],
  ['application/pdf', /^%PDF-/],
];
const SIGNATURE_BYTES = 12;
const MEDIA_TYPE = /^[\w.+-]{1,60}\/[\w.+-]{1,100}$/;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;
const UNKNOWN_TYPE = 'application/octet-stream';
const MAX_FILENAME_CHARS = 100;
/** Length of an address within which a file name is looked for: no browser accepts longer ones. */
const MAX_URI_CHARS = 64 * 1024;

/**
 * The file, or why it cannot be kept. Images of the types that every provider takes are images; everything else is a
 * file.
 */
export function toolFileOf(
  sent: SentFile,
): { readonly file: ToolFile } | { readonly problem: string } {
  const { data } = sent;
  // Some servers break base64 into lines.
  const base64 = typeof data === 'string' ? data.replaceAll(/[\r\n]+/g, '') : '';
  if (!BASE64.test(base64)) return { problem: 'its bytes cannot be read' };
  if (bytesIn(base64) > MAX_MCP_FILE_BYTES)
    return { problem: `more than ${MAX_MCP_FILE_BYTES} bytes` };
  const bytes = new Uint8Array(Buffer.from(base64, 'base64'));
  const mediaType = mediaTypeOf(bytes, sent.mediaType);
  const source = { bytes };
  if (mediaType.startsWith('image/') && isSigned(mediaType))
    return { file: { type: 'image', source, mediaType } };
  const { filename } = sent;
  return {
    file: { type: 'file', source, mediaType, ...(filename === undefined ? {} : { filename }) },
  };
}

/** The decoded length of base64, without decoding it. */
export function bytesIn(base64: unknown): number {
  if (typeof base64 !== 'string') return 0;
  return Math.floor((base64.replaceAll(/[\r\n=]+/g, '').length * 3) / 4);
}

/** The last segment of an address, reduced to characters that a file system accepts. */
export function filenameOf(uri: string): string | undefined {
  const [path = ''] = uri.slice(0, MAX_URI_CHARS).split(/[?#]/, 1);
  const last =
    path
      .replace(/\/$/, '')
      .split(/[/\\:]/)
      .at(-1) ?? '';
  const name = last.replaceAll(/[^\w.~()[\] -]+/g, '_').slice(-MAX_FILENAME_CHARS);
  return /\w/.test(name) ? name : undefined;
}

function mediaTypeOf(bytes: Uint8Array, said: string): string {
  const head = Buffer.from(bytes.subarray(0, SIGNATURE_BYTES)).toString('latin1');
  const found = SIGNATURES.find(([, begins]) => begins.test(head))?.[0];
  if (found !== undefined) return found;
  const type = said.split(';')[0]?.trim().toLowerCase() ?? '';
  // A file of a signed type would have matched its signature.
  return MEDIA_TYPE.test(type) && !isSigned(type) ? type : UNKNOWN_TYPE;
}

function isSigned(type: string): boolean {
  return SIGNATURES.some(([mediaType]) => mediaType === type);
}
