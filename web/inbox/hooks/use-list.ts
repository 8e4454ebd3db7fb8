/** The rows of the inbox: they move only when the person asks for it. */
import type { WorklistItem, WorklistView } from 'colloquy/browser/worklist';
import { useMemo, useState } from 'react';
import { useCoarseNow } from '../../shared/now.js';
import {
  arranged,
  type Choice,
  isIn,
  type Row,
  rowsOf,
  toolCounts,
  type ViewName,
  viewCounts,
  waitingChanges,
} from '../model/rows.js';
import type { Snoozes } from '../model/snooze.js';

const SEEN_TICK_MS = 10_000;

export interface UsedList {
  readonly rows: readonly Row[];
  /** Calls without a row, and rows without a call. */
  readonly fresh: number;
  readonly over: number;
  readonly counts: Partial<Readonly<Record<ViewName, number>>>;
  /** The number of calls that wait for the person, in each view the same. */
  readonly waiting: number;
  readonly tools: readonly (readonly [string, number])[];
  /** Shows all that waits, in its order. */
  readonly refresh: () => void;
  /** Takes a row away that the person no longer wants to see. */
  readonly remove: (ref: string) => void;
}

export function useList(view: WorklistView, choice: Choice, snoozes: Snoozes): UsedList {
  const now = useCoarseNow(SEEN_TICK_MS);
  const seen = useMemo(() => ({ now, snoozes }), [now, snoozes]);
  const { items } = view;
  const byRef = useMemo(() => new Map(items.map((item) => [item.ref, item])), [items]);
  const wanted = useMemo(() => arranged(items, choice, seen), [items, choice, seen]);
  const [shown, setShown] = useState<{
    readonly of: Choice;
    readonly items: readonly WorklistItem[];
  }>({ of: choice, items: [] });
  // Another choice is another list; and in an empty list nothing is under the pointer.
  const isNew = shown.of !== choice || (shown.items.length === 0 && wanted.length > 0);
  const list = isNew ? { of: choice, items: wanted } : shown;
  if (isNew) setShown(list);
  const rows = useMemo(() => rowsOf(list.items, byRef), [list.items, byRef]);
  const changes = useMemo(() => waitingChanges(rows, wanted), [rows, wanted]);
  const numbers = useMemo(
    () => ({
      counts: viewCounts(items, choice.view, seen),
      tools: toolCounts(items, choice.view, seen),
      waiting: items.filter((item) => item.mayAnswer && isIn(item, 'mine', seen)).length,
    }),
    [items, choice.view, seen],
  );
  return {
    ...{ rows, ...changes, ...numbers },
    refresh: () => setShown({ of: choice, items: wanted }),
    remove: (ref) => setShown({ of: choice, items: list.items.filter((item) => item.ref !== ref) }),
  };
}
