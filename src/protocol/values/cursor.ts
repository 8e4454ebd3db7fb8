/** Positions in a log as text: the ids of SSE events, the `after` of pages. Runs anywhere. */

/** Position in a log, written `<generation>-<seq>`. */
export interface LogCursor {
  /** From 1. */
  readonly generation: number;
  /** 0 is the `log_rewritten` marker before a later generation. */
  readonly seq: number;
}

const CURSOR = /^(\d{1,15})-(\d{1,15})$/;

export function formatCursor(cursor: LogCursor): string {
  return `${cursor.generation}-${cursor.seq}`;
}

/**
 * The inverse of `formatCursor`. Undefined when the text is no cursor: browsers send back any id that they were given.
 */
export function parseCursor(text: string): LogCursor | undefined {
  const match = CURSOR.exec(text);
  const generation = Number(match?.[1]);
  return generation >= 1 ? { generation, seq: Number(match?.[2]) } : undefined;
}
