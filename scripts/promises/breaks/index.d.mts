/** Types of index.mjs, for tests. */
export interface Break {
  readonly promise: string;
  readonly file: string;
  readonly line: string;
  /** Absent: the line is removed. */
  readonly to?: string;
  readonly test: string;
  /** The file with the tag, where `test` runs tests of another file. */
  readonly tagged?: string;
  readonly builds?: boolean;
}
export const BREAKS: readonly Break[];
