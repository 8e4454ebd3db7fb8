/** Types of requirements-table.mjs, for its test. */
export interface RequirementRow {
  readonly line: number;
  readonly ids: readonly string[];
  readonly columns: number;
  readonly tests: readonly string[];
  readonly mark?: string;
  readonly reason?: string;
  readonly rest: string;
}
export function requirementRows(markdown: string): readonly RequirementRow[];
export function requirementFaults(
  rows: readonly RequirementRow[],
): readonly { readonly line: number; readonly message: string }[];
export function splitRow(text: string): readonly string[];
