/** Bounds of reads and lists, and list cursors; the same for every adapter. */
import type { ListOptions } from '../ports/lists.js';
import type { ReadOptions } from '../ports/log.js';

const DEFAULT_READ_LIMIT = 1_000;
const DEFAULT_READ_BYTES = 4 * 1024 * 1024;
const DEFAULT_LIST_LIMIT = 50;
const MAX_LIST_LIMIT = 1_000;

export interface ReadBounds {
  readonly limit: number;
  readonly maxBytes: number;
  readonly afterSeq: number;
  /** Present if the newest events come first. */
  readonly beforeSeq?: number;
}

export function readBounds(options: ReadOptions): ReadBounds {
  const { beforeSeq } = options;
  return {
    limit: Math.max(1, options.limit ?? DEFAULT_READ_LIMIT),
    maxBytes: options.maxBytes ?? DEFAULT_READ_BYTES,
    afterSeq: options.afterSeq ?? -1,
    ...(beforeSeq === undefined ? {} : { beforeSeq }),
  };
}

export function listLimit(options: Pick<ListOptions, 'limit'>): number {
  return Math.min(Math.max(1, options.limit ?? DEFAULT_LIST_LIMIT), MAX_LIST_LIMIT);
}

/** Whether a list is one of pending calls, in the order of their deadlines. */
export function isByDeadline(options: ListOptions): boolean {
  const { pendingTool, pendingKind, pendingFor, deadlineBefore } = options;
  return [pendingTool, pendingKind, pendingFor, deadlineBefore].some(
    (given) => given !== undefined,
  );
}

export function cursorOf(position: number): string {
  return String(position);
}

/** @throws {RangeError} when the cursor is not one of `cursorOf`. */
export function positionOf(cursor: string): number {
  if (!/^\d{1,15}$/.test(cursor)) throw notOurs(cursor);
  return Number(cursor);
}

/** The position in a list by deadline: deadlines may be equal, positions are not. */
export interface DeadlinePosition {
  readonly deadlineMs: number;
  readonly position: number;
}

export function deadlineCursorOf({ deadlineMs, position }: DeadlinePosition): string {
  return `d${deadlineMs}.${position}`;
}

/** @throws {RangeError} when the cursor is not one of `deadlineCursorOf`, such as one of a list in another order. */
export function deadlinePositionOf(cursor: string): DeadlinePosition {
  const match = /^d(-?\d{1,15})\.(\d{1,15})$/.exec(cursor);
  if (match === null) throw notOurs(cursor);
  return { deadlineMs: Number(match[1]), position: Number(match[2]) };
}

/** The position in a list of calls: calls of one conversation may end at the same time. */
export interface CallPosition extends DeadlinePosition {
  readonly toolCallId: string;
}

export function callCursorOf({ toolCallId, ...position }: CallPosition): string {
  return `${deadlineCursorOf(position)}.${Buffer.from(toolCallId).toString('base64url')}`;
}

/** @throws {RangeError} when the cursor is not one of `callCursorOf`. */
export function callPositionOf(cursor: string): CallPosition {
  const match = /^(.+)\.([\w-]+)$/.exec(cursor);
  if (match?.[1] === undefined || match[2] === undefined) throw notOurs(cursor);
  const toolCallId = Buffer.from(match[2], 'base64url').toString();
  if (toolCallId.includes('\0')) throw notOurs(cursor);
  return { ...deadlinePositionOf(match[1]), toolCallId };
}

/** @throws {RangeError} when the text is not a time. */
export function deadlineMsOf(deadlineBefore: string): number {
  const deadlineMs = Date.parse(deadlineBefore);
  if (Number.isNaN(deadlineMs)) throw new RangeError(`not a time: "${deadlineBefore}"`);
  return deadlineMs;
}

function notOurs(cursor: string): RangeError {
  return new RangeError(`not a list cursor: "${cursor}"`);
}
