/** Bounds of reads and lists, and list cursors; the same for every adapter. */
import type { ListOptions, ReadOptions } from './port.js';

const DEFAULT_READ_LIMIT = 1_000;
const DEFAULT_READ_BYTES = 4 * 1024 * 1024;
const DEFAULT_LIST_LIMIT = 50;
const MAX_LIST_LIMIT = 1_000;

export function readBounds(options: ReadOptions): {
  readonly limit: number;
  readonly maxBytes: number;
  readonly afterSeq: number;
} {
  return {
    limit: Math.max(1, options.limit ?? DEFAULT_READ_LIMIT),
    maxBytes: options.maxBytes ?? DEFAULT_READ_BYTES,
    afterSeq: options.afterSeq ?? -1,
  };
}

export function listLimit(options: ListOptions): number {
  return Math.min(Math.max(1, options.limit ?? DEFAULT_LIST_LIMIT), MAX_LIST_LIMIT);
}

export function cursorOf(position: number): string {
  return String(position);
}

/** @throws {RangeError} when the cursor is not one of ours. */
export function positionOf(cursor: string): number {
  if (!/^\d{1,15}$/.test(cursor)) throw new RangeError(`not a list cursor: "${cursor}"`);
  return Number(cursor);
}
