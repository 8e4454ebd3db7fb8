/** The calls that are selected, and what becomes of them when they are decided at once. Pure. */
import type { WorklistItem } from 'colloquy/browser/worklist';
import type { Row } from './rows.js';

export type Selected = ReadonlySet<string>;

/** The most calls of one decision: their answers are held together. */
export const MAX_AT_ONCE = 500;

/** Selects the row or no longer; with `from`, all rows between both get the new state of the row. */
export function toggled(
  rows: readonly Row[],
  selected: Selected,
  { ref, from }: { readonly ref: string; readonly from?: string | undefined },
): Selected {
  const indexOf = (one: string | undefined): number =>
    rows.findIndex(({ item }) => item.ref === one);
  const at = indexOf(ref);
  const isOn = !selected.has(ref);
  const start = from === undefined ? at : indexOf(from);
  const [first, last] = start < 0 ? [at, at] : [Math.min(at, start), Math.max(at, start)];
  const next = new Set(selected);
  for (const { item, isOver } of rows.slice(first, last + 1))
    if (isOn && !isOver) next.add(item.ref);
    else next.delete(item.ref);
  return next;
}

export function allOf(rows: readonly Row[]): Selected {
  return new Set(rows.filter(({ isOver }) => !isOver).map(({ item }) => item.ref));
}

export interface Summary {
  /** The calls that the decision is for. */
  readonly items: readonly WorklistItem[];
  /** Their numbers by tool, those with the most first. */
  readonly byTool: readonly (readonly [string, number])[];
  readonly highRisk: number;
  /** The number of those that the list does not show, by its search or tool. */
  readonly hidden: number;
  /** Numbers of the selected calls that are left out, by reason in words. */
  readonly leftOut: readonly (readonly [string, number])[];
}

export interface Known {
  /** The list as it is shown. */
  readonly rows: readonly Row[];
  /** All calls that wait. */
  readonly items: readonly WorklistItem[];
}

/** `isBusy`: an answer to the call is on its way, or its arguments are being edited, in words; undefined: neither. */
export function summaryOf(
  { rows, items: waiting }: Known,
  selected: Selected,
  isBusy: (ref: string) => string | undefined,
): Summary {
  const items: WorklistItem[] = [];
  const leftOut: string[] = [];
  const shown = new Set(rows.map(({ item }) => item.ref));
  const others = waiting.filter(({ ref }) => !shown.has(ref));
  const left = new Set(selected);
  for (const row of [...rows, ...others.map((item) => ({ item, isOver: false }))]) {
    if (!left.delete(row.item.ref)) continue;
    const why =
      whyNot(row) ?? isBusy(row.item.ref) ?? (items.length < MAX_AT_ONCE ? undefined : OVER);
    if (why === undefined) items.push(row.item);
    else leftOut.push(why);
  }
  leftOut.push(...Array.from(left, () => 'no longer in the list'));
  return {
    items,
    byTool: counted(items.map(({ tool }) => tool)),
    highRisk: items.filter(({ risk }) => risk === 'high').length,
    hidden: items.filter(({ ref }) => !shown.has(ref)).length,
    leftOut: counted(leftOut),
  };
}

const OVER = `over the ${MAX_AT_ONCE} of one decision`;

function whyNot({ item, isOver }: Row): string | undefined {
  if (isOver) return 'no longer waiting';
  if (item.kind !== 'approval') return 'needing an answer of its own';
  return item.mayAnswer ? undefined : 'not yours to decide';
}

function counted(names: readonly string[]): readonly (readonly [string, number])[] {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts].sort(([, a], [, b]) => b - a);
}
