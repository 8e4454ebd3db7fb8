/** Files and images as parts of messages, as references only, and the rules for them. Runs anywhere. */
import { MAX_ATTACHMENTS, MAX_SOURCE_CHARS } from '../limits/limits.js';
import { type BlobRef, isBlobId } from './blobs.js';
import type { FieldProblem } from './field-problem.js';
import { isRecord } from './json.js';

/**
 * Location of the bytes of an image or file, which are never in the transcript. `fileId`: id of an upload at the
 * model's provider.
 */
export type FileSource =
  | { readonly url: string }
  | { readonly blob: BlobRef }
  | { readonly fileId: string };

export interface ImagePart {
  readonly type: 'image';
  readonly source: FileSource;
  /** Media type, such as `image/png`; needed where the source is a blob. */
  readonly mediaType?: string;
  /** Resolution at which the model reads the image. @defaultValue the provider's */
  readonly detail?: 'low' | 'high' | 'auto';
}

export interface FilePart {
  readonly type: 'file';
  readonly source: FileSource;
  /** Media type, such as `application/pdf`; needed where the source is a blob. */
  readonly mediaType?: string;
  readonly filename?: string;
}

const FIELDS = {
  image: ['type', 'source', 'mediaType', 'detail'],
  file: ['type', 'source', 'mediaType', 'filename'],
} as const;
const DETAILS: readonly unknown[] = ['low', 'high', 'auto'];
const MEDIA_TYPE = /^[\w.+-]{1,60}\/[\w.+-]{1,100}$/;
const MAX_FILENAME_CHARS = 255;

/** Every rule that the attachments break; none for `undefined`. */
export function attachmentProblems(value: unknown): readonly FieldProblem[] {
  if (value === undefined) return [];
  if (!Array.isArray(value))
    return [{ path: '/attachments', message: 'must be a list of images and files' }];
  if (value.length > MAX_ATTACHMENTS)
    return [{ path: '/attachments', message: `must have at most ${MAX_ATTACHMENTS} entries` }];
  return value.flatMap((entry: unknown, index) =>
    entryProblems(entry).map(({ path, message }) => ({
      path: `/attachments/${index}${path}`,
      message,
    })),
  );
}

function entryProblems(entry: unknown): readonly FieldProblem[] {
  if (!isRecord(entry) || (entry['type'] !== 'image' && entry['type'] !== 'file'))
    return [{ path: '', message: 'must be an object with `type` "image" or "file"' }];
  const known: readonly string[] = FIELDS[entry['type']];
  const problems: FieldProblem[] = Object.keys(entry)
    .filter((key) => !known.includes(key) && entry[key] !== undefined)
    .map((key) => ({ path: `/${key}`, message: 'is not known' }));
  const { source, mediaType, filename, detail } = entry;
  const sourceRule = sourceProblem(source);
  if (sourceRule !== undefined) problems.push({ path: '/source', message: sourceRule });
  const isBlob = isRecord(source) && source['blob'] !== undefined;
  if (mediaType === undefined ? isBlob : !matches(mediaType, MEDIA_TYPE))
    problems.push({ path: '/mediaType', message: 'must be a media type, such as "image/png"' });
  if (filename !== undefined && !isShort(filename, MAX_FILENAME_CHARS))
    problems.push({
      path: '/filename',
      message: `must be a text of 1 to ${MAX_FILENAME_CHARS} characters`,
    });
  if (detail !== undefined && !DETAILS.includes(detail))
    problems.push({ path: '/detail', message: 'must be "low", "high" or "auto"' });
  return problems;
}

const SOURCE_RULE = 'must be one of {url}, {blob} and {fileId}';

function sourceProblem(source: unknown): string | undefined {
  if (!isRecord(source)) return SOURCE_RULE;
  const given = Object.keys(source).filter((key) => source[key] !== undefined);
  const [kind] = given;
  if (given.length !== 1) return SOURCE_RULE;
  switch (kind) {
    case 'url':
      return matches(source['url'], /^https?:\/\/[^\s/]/) &&
        isShort(source['url'], MAX_SOURCE_CHARS)
        ? undefined
        : `url must be an http(s) address of at most ${MAX_SOURCE_CHARS} characters; bytes do not belong into a message`;
    case 'fileId':
      return isShort(source['fileId'], MAX_SOURCE_CHARS)
        ? undefined
        : `fileId must be a text of 1 to ${MAX_SOURCE_CHARS} characters`;
    case 'blob':
      return isBlobRef(source['blob'])
        ? undefined
        : 'blob must be the reference of a stored value: {id, bytes, type}';
    default:
      return SOURCE_RULE;
  }
}

function isBlobRef(value: unknown): boolean {
  return (
    isRecord(value) &&
    isBlobId(value['id']) &&
    typeof value['bytes'] === 'number' &&
    value['type'] === 'application/octet-stream' &&
    Object.keys(value).length === 3
  );
}

function matches(value: unknown, pattern: RegExp): boolean {
  return typeof value === 'string' && pattern.test(value);
}

function isShort(value: unknown, maxChars: number): boolean {
  return typeof value === 'string' && value !== '' && value.length <= maxChars;
}
