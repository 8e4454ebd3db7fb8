/**
 * Moves files between a conversation and its model: transcripts hold references, providers take base64. Referenced
 * files are read before the request, and files of an answer are stored before the answer is kept.
 */

import type { Message } from '../../protocol/conversation/messages.js';
import { TEXTS } from '../../protocol/failures/texts.js';
import type { ModelFiles } from '../../protocol/model/model.js';
import type { FilePart, ImagePart } from '../../protocol/values/attachments.js';
import type { BlobRef } from '../../protocol/values/blobs.js';
import { isRecord, type Json } from '../../protocol/values/json.js';

/** Base64 of the files of one request, by the id of their blob. Missing entries could not be read. */
export type LoadedFiles = ReadonlyMap<string, string>;

export const NO_FILES: LoadedFiles = new Map();

/**
 * Replaces a string that would bloat the transcript; the string is restored when the item goes back to its provider.
 */
interface KeptData {
  readonly $blob: BlobRef;
  /** The text before the base64: for a data URL `data:image/png;base64,`, else empty. */
  readonly prefix: string;
}

/** Shorter data is kept as it is: its reference would be no smaller. */
const MIN_DATA_CHARS = 4_096;
const DATA_URL = /^data:[\w.+-]+\/[\w.+-]+;base64,/;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/**
 * Reads the files that the messages refer to.
 * @throws errors of `files.read`: the store is unavailable, and the call is made again later
 */
export async function loadFiles(
  messages: readonly Message[],
  files: ModelFiles | undefined,
): Promise<LoadedFiles> {
  const refs = new Map(refsOf(messages).map((ref) => [ref.id, ref]));
  if (refs.size === 0 || files === undefined) return NO_FILES;
  const loaded = new Map<string, string>();
  for (const ref of refs.values()) {
    const content = await files.read(ref);
    if (content !== undefined) loaded.set(ref.id, Buffer.from(content).toString('base64'));
  }
  return loaded;
}

function refsOf(messages: readonly Message[]): readonly BlobRef[] {
  const refs: BlobRef[] = [];
  for (const { parts } of messages)
    for (const part of parts) {
      if ((part.type === 'image' || part.type === 'file') && 'blob' in part.source)
        refs.push(part.source.blob);
      if (part.type === 'tool_result' && part.envelope.ok)
        for (const file of part.envelope.files ?? [])
          if ('blob' in file.source && !isUnreadable(file)) refs.push(file.source.blob);
      if (part.type === 'provider_item') collectKept(part.item, refs);
    }
  return refs;
}

function collectKept(value: Json | undefined, refs: BlobRef[]): void {
  if (isKeptData(value)) refs.push(value.$blob);
  else if (typeof value === 'object' && value !== null)
    for (const item of Object.values(value)) collectKept(item, refs);
}

/** A URL that the provider can read: the file's own, or its bytes. Undefined when it has neither. */
export function urlOf(part: ImagePart | FilePart, loaded: LoadedFiles): string | undefined {
  const { source, mediaType } = part;
  if ('url' in source) return source.url;
  const base64 = 'blob' in source ? loaded.get(source.blob.id) : undefined;
  if (base64 === undefined) return undefined;
  return `data:${mediaType ?? 'application/octet-stream'};base64,${base64}`;
}

const IMAGES = /^image\/(?:png|jpe?g|gif|webp)$/i;
/** Providers read documents and texts, or ignore them; they reject these types, and the whole request with them. */
const UNREADABLE =
  /^(?:audio|video|image|font|model)\/|^application\/(?:octet-stream|zip|gzip|x-tar|x-7z-compressed|vnd\.rar|wasm)$/i;

/**
 * True for bytes that models do not read, such as sounds and archives, and for images of a kind that no provider
 * accepts.
 */
export function isUnreadable({ type, source, mediaType = '' }: ImagePart | FilePart): boolean {
  if (!('blob' in source)) return false;
  return type === 'image' ? !IMAGES.test(mediaType) : UNREADABLE.test(mediaType);
}

/**
 * The text in place of a file that the model cannot be given: a rejected request would be rejected at every later turn,
 * too.
 */
export function notShown(part: ImagePart | FilePart, reason?: string): string {
  const name = part.type === 'file' ? part.filename : undefined;
  const what = name === undefined ? part.type : `file "${name}"`;
  const because = isUnreadable(part)
    ? `models do not read ${part.mediaType ?? 'files of its type'}`
    : 'it could not be read';
  return TEXTS.fileNotShown(what, reason ?? because);
}

/** An item in its kept form. Undefined when its data is too large and cannot be stored elsewhere. */
export async function keptItem(
  item: Json,
  files: ModelFiles | undefined,
): Promise<Json | undefined> {
  const isImage = isRecord(item) && item['type'] === 'image_generation_call';
  return await kept(item, async (text, key) => {
    const prefix = DATA_URL.exec(text)?.[0] ?? (isImage && key === 'result' ? '' : undefined);
    return prefix === undefined ? text : await keptData(text, prefix, files);
  });
}

/** The value with its texts in their kept form. Undefined when one of them cannot be kept. */
async function kept(
  value: Json,
  keep: (text: string, key: string) => Promise<Json | undefined>,
  key = '',
): Promise<Json | undefined> {
  if (typeof value === 'string') return await keep(value, key);
  if (typeof value !== 'object' || value === null) return value;
  const entries: [string, Json][] = [];
  for (const [name, entry] of Object.entries(value)) {
    if (entry === undefined) continue;
    const own = await kept(entry, keep, name);
    if (own === undefined) return undefined;
    entries.push([name, own]);
  }
  return Array.isArray(value) ? entries.map(([, entry]) => entry) : Object.fromEntries(entries);
}

async function keptData(
  text: string,
  prefix: string,
  files: ModelFiles | undefined,
): Promise<Json | undefined> {
  const base64 = text.slice(prefix.length);
  if (text.length < MIN_DATA_CHARS || !BASE64.test(base64)) return text;
  const blob = await files?.write(Buffer.from(base64, 'base64'));
  return blob === undefined ? undefined : { $blob: { ...blob }, prefix };
}

/** The original item. Undefined when its stored content is lost. */
export function wholeItem(item: Json, loaded: LoadedFiles): Json | undefined {
  if (isKeptData(item)) {
    const base64 = loaded.get(item.$blob.id);
    return base64 === undefined ? undefined : `${item.prefix}${base64}`;
  }
  if (typeof item !== 'object' || item === null) return item;
  const entries: [string, Json][] = [];
  for (const [name, entry] of Object.entries(item)) {
    if (entry === undefined) continue;
    const own = wholeItem(entry, loaded);
    if (own === undefined) return undefined;
    entries.push([name, own]);
  }
  return Array.isArray(item) ? entries.map(([, entry]) => entry) : Object.fromEntries(entries);
}

function isKeptData(value: unknown): value is KeptData & Readonly<Record<string, Json>> {
  return isRecord(value) && isRecord(value['$blob']) && typeof value['prefix'] === 'string';
}
