/** References to values that are stored beside the log, because they are too large for it. Runs anywhere. */

/**
 * Type of a blob's bytes: JSON or plain text, both UTF-8, or a file, whose media type only the reference to the blob
 * knows.
 */
export type BlobType = 'application/json' | 'text/plain' | 'application/octet-stream';

export const BLOB_TYPES: readonly BlobType[] = [
  'application/json',
  'text/plain',
  'application/octet-stream',
];

/** Names one stored value within its conversation. The same value of the same type always has the same id. */
export interface BlobRef {
  /** SHA-256 over type and content, 64 lower-case hex digits. */
  readonly id: string;
  /** Length of the content in bytes. */
  readonly bytes: number;
  readonly type: BlobType;
}

export function isBlobId(value: unknown): value is string {
  return typeof value === 'string' && /^[0-9a-f]{64}$/.test(value);
}
