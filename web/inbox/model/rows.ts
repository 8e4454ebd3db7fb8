/** The rows of the list: what it shows, in which order, and what waits to be shown. Pure. */
import type { WorklistItem } from 'colloquy/browser/worklist';
import { isSnoozed, type Snoozes } from './snooze.js';

export type ViewName = 'mine' | 'roles' | 'expiring' | 'snoozed' | 'outcome' | 'all';
export type SortName = 'deadline' | 'age' | 'tool';

export interface Choice {
  readonly view: ViewName;
  readonly sort: SortName;
  readonly search: string;
  /** Calls of this tool alone. */
  readonly tool?: string;
}

/** The person's side of the list. `now` in milliseconds since 1970. */
export interface Seen {
  readonly now: number;
  readonly snoozes: Snoozes;
}

/** Calls that end within this time are in the view `expiring`. */
export const EXPIRING_MS = 60 * 60_000;

export interface Row {
  readonly item: WorklistItem;
  /** The call waits no longer; its row stays until the list is arranged anew, so that no other row moves. */
  readonly isOver: boolean;
}

/** Views of calls that the person may not answer as well. */
const WIDE: readonly ViewName[] = ['outcome', 'all'];

export function isWide(view: ViewName): boolean {
  return WIDE.includes(view);
}

/** Whether the view has the call. Snoozed calls are in their own view, and in those of all calls. */
export function isIn(item: WorklistItem, view: ViewName, { now, snoozes }: Seen): boolean {
  if (view === 'all') return true;
  if (view === 'outcome') return item.kind === 'outcome';
  if (isSnoozed(item, snoozes, now) !== (view === 'snoozed')) return false;
  if (view === 'roles') return item.mayAnswer && /(?:^| and )role /.test(item.why);
  return view !== 'expiring' || timesOf(item).deadline - now < EXPIRING_MS;
}

/** The items that the choice has, in its order. */
export function arranged(
  items: readonly WorklistItem[],
  choice: Choice,
  seen: Seen,
): readonly WorklistItem[] {
  const words = choice.search
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  const { view, tool } = choice;
  return items
    .filter(
      (item) =>
        (tool === undefined || item.tool === tool) &&
        isIn(item, view, seen) &&
        (words.length === 0 || hasWords(item, words)),
    )
    .sort(ORDERS[choice.sort]);
}

type Order = (a: WorklistItem, b: WorklistItem) => number;

const byDeadline: Order = (a, b) =>
  timesOf(a).deadline - timesOf(b).deadline || (a.ref < b.ref ? -1 : 1);

const ORDERS: Readonly<Record<SortName, Order>> = {
  deadline: byDeadline,
  age: (a, b) => timesOf(a).openedAt - timesOf(b).openedAt || byDeadline(a, b),
  tool: (a, b) => (a.tool === b.tool ? byDeadline(a, b) : a.tool < b.tool ? -1 : 1),
};

interface Times {
  readonly deadline: number;
  readonly openedAt: number;
}

/** Reading a date takes longer than the rest of a comparison, and there may be 10,000 calls. */
const times = new WeakMap<WorklistItem, Times>();

function timesOf(item: WorklistItem): Times {
  let found = times.get(item);
  if (found === undefined) {
    found = { deadline: Date.parse(item.deadline), openedAt: Date.parse(item.openedAt) };
    times.set(item, found);
  }
  return found;
}

function hasWords(item: WorklistItem, words: readonly string[]): boolean {
  const { tool, title = '', reason = '', preview, agent, conversationId, requesters } = item;
  const text = [tool, title, reason, preview, agent, conversationId, ...requesters]
    .join('\n')
    .toLowerCase();
  return words.every((word) => text.includes(word));
}

/** Numbers of calls by view. Views that need calls which were not read are absent. */
export function viewCounts(
  items: readonly WorklistItem[],
  read: ViewName,
  seen: Seen,
): Partial<Readonly<Record<ViewName, number>>> {
  const views: readonly ViewName[] = isWide(read)
    ? [read]
    : ['mine', 'roles', 'expiring', 'snoozed'];
  return Object.fromEntries(
    views.map((view) => [view, items.filter((item) => isIn(item, view, seen)).length]),
  );
}

/** Numbers of calls by tool in the view, those with the most first. */
export function toolCounts(
  items: readonly WorklistItem[],
  view: ViewName,
  seen: Seen,
): readonly (readonly [string, number])[] {
  const counts = new Map<string, number>();
  for (const item of items)
    if (isIn(item, view, seen)) counts.set(item.tool, (counts.get(item.tool) ?? 0) + 1);
  return [...counts].sort(([a, left], [b, right]) => right - left || (a < b ? -1 : 1));
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
