/** The rows of the inbox: they move only when the person asks for it. */
import type { WorklistItem, WorklistView } from 'colloquy/browser/worklist';
import { useMemo, useState } from 'react';
import { useCoarseNow } from '../../shared/now.js';
import { arranged, type Choice, type Row, rowsOf, waitingChanges } from '../model/rows.js';

const EXPIRING_TICK_MS = 10_000;

export interface UsedList {
  readonly rows: readonly Row[];
  /** Calls without a row, and rows without a call. */
  readonly fresh: number;
  readonly over: number;
  /** Shows all that waits, in its order. */
  readonly refresh: () => void;
}

export function useList(view: WorklistView, choice: Choice): UsedList {
  const now = useCoarseNow(EXPIRING_TICK_MS);
  const items = useMemo(() => new Map(view.items.map((item) => [item.ref, item])), [view.items]);
  const wanted = useMemo(() => arranged(view.items, choice, now), [view.items, choice, now]);
  const [shown, setShown] = useState<{
    readonly of: Choice;
    readonly items: readonly WorklistItem[];
  }>({ of: choice, items: [] });
  // Another choice is another list; and in an empty list nothing is under the pointer.
  const isNew = shown.of !== choice || (shown.items.length === 0 && wanted.length > 0);
  const list = isNew ? { of: choice, items: wanted } : shown;
  if (isNew) setShown(list);
  const rows = useMemo(() => rowsOf(list.items, items), [list.items, items]);
  const changes = useMemo(() => waitingChanges(rows, wanted), [rows, wanted]);
  return { rows, ...changes, refresh: () => setShown({ of: choice, items: wanted }) };
}
