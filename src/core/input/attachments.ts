/** Images and files of a message, as references only: checks and copies them. Pure. */

import { textOf, type UserPart } from '../../protocol/conversation/messages.js';
import { MAX_ATTACHMENTS, MAX_SOURCE_CHARS } from '../../protocol/limits/limits.js';
import type { FilePart, ImagePart } from '../../protocol/values/attachments.js';
import { isBlobId } from '../../protocol/values/blobs.js';
import type { FieldProblem } from '../../protocol/values/field-problem.js';
import { canonicalJson, fingerprint, isRecord } from '../../protocol/values/json.js';

type Fields = Readonly<Record<string, unknown>>;

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

/** The parts of a message that has been checked: its text, then its attachments. */
export function messageParts(fields: Fields): readonly UserPart[] {
  const { text, attachments } = fields;
  const parts = Array.isArray(attachments)
    ? (attachments as readonly (ImagePart | FilePart)[])
    : [];
  return [{ type: 'text', text: String(text) }, ...parts];
}

/**
 * Identifies the content of a message. The digest of a text alone never changes, because digests are remembered across
 * versions.
 */
export function messageDigest(parts: readonly UserPart[], output: unknown): string {
  const isText = parts.every(({ type }) => type === 'text');
  const said = isText ? textOf(parts) : canonicalJson(parts);
  return fingerprint(output === undefined ? said : `${said} ${canonicalJson(output)}`);
}
