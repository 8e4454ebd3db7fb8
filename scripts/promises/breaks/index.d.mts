/** Types of index.mjs, for tests. */
export interface Break {
  readonly promise: string;
  readonly file: string;
  readonly line: string;
  /** Absent: the line is removed. */
  readonly to?: string;
  readonly test: string;
  readonly builds?: boolean;
}
export const BREAKS: readonly Break[];
