/** The rows of the list: what it shows, in which order, and what waits to be shown. Pure. */
import type { WorklistItem } from 'colloquy/browser/worklist';

export type ViewName = 'mine' | 'all' | 'expiring';
export type SortName = 'deadline' | 'age';

export interface Choice {
  readonly view: ViewName;
  readonly sort: SortName;
  readonly search: string;
}

/** Calls that end within this time are in the view `expiring`. */
export const EXPIRING_MS = 60 * 60_000;

export interface Row {
  readonly item: WorklistItem;
  /** The call waits no longer; its row stays until the list is arranged anew, so that no other row moves. */
  readonly isOver: boolean;
}

/** The items that the choice has, in its order. `now` in milliseconds since 1970. */
export function arranged(
  items: readonly WorklistItem[],
  choice: Choice,
  now: number,
): readonly WorklistItem[] {
  const words = choice.search
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  const isIn = (item: WorklistItem): boolean =>
    (choice.view !== 'expiring' || Date.parse(item.deadline) - now < EXPIRING_MS) &&
    (words.length === 0 || hasWords(item, words));
  const timeOf = ({ deadline, openedAt }: WorklistItem): string =>
    choice.sort === 'deadline' ? deadline : openedAt;
  return items
    .filter(isIn)
    .map((item) => ({ item, time: Date.parse(timeOf(item)) }))
    .sort((a, b) => a.time - b.time || (a.item.ref < b.item.ref ? -1 : 1))
    .map(({ item }) => item);
}

function hasWords(item: WorklistItem, words: readonly string[]): boolean {
  const { tool, title = '', reason = '', preview, agent, conversationId, requesters } = item;
  const text = [tool, title, reason, preview, agent, conversationId, ...requesters]
    .join('\n')
    .toLowerCase();
  return words.every((word) => text.includes(word));
}

/** The rows in the order in which they are shown: with the newest state of each, and the last of those that are over. */
export function rowsOf(
  shown: readonly WorklistItem[],
  items: ReadonlyMap<string, WorklistItem>,
): readonly Row[] {
  return shown.map((item) => {
    const now = items.get(item.ref);
    return { item: now ?? item, isOver: now === undefined };
  });
}

/** The numbers of changes that wait to be shown: calls without a row, and rows without a call. */
export function waitingChanges(
  rows: readonly Row[],
  wanted: readonly WorklistItem[],
): { readonly fresh: number; readonly over: number } {
  const shown = new Set(rows.map(({ item }) => item.ref));
  return {
    fresh: wanted.filter(({ ref }) => !shown.has(ref)).length,
    over: rows.filter(({ isOver }) => isOver).length,
  };
}

/**
 * The row after the named one, or before it, that still waits and that `skips` does not name; the named one where there
 * is none. Without a name, the first or the last.
 */
export function neighbour(
  rows: readonly Row[],
  ref: string | undefined,
  {
    step,
    skips = () => false,
  }: { readonly step: 1 | -1; readonly skips?: (ref: string) => boolean },
): string | undefined {
  const at = rows.findIndex(({ item }) => item.ref === ref);
  const start = at < 0 ? (step === 1 ? 0 : rows.length - 1) : at + step;
  for (let index = start; index >= 0 && index < rows.length; index += step) {
    const row = rows[index];
    if (row !== undefined && !row.isOver && !skips(row.item.ref)) return row.item.ref;
  }
  return ref;
}

/** The call as its tool names it. */
export function nameOf({ title, tool }: Pick<WorklistItem, 'title' | 'tool'>): string {
  return title === undefined ? tool : `${title} (${tool})`;
}
