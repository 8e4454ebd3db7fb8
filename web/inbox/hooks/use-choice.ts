/**
 * The view and the order of the list, and the open call. They are the address of the page, so a reload, a bookmark and a
 * link in another page have them.
 */
import { useEffect, useState } from 'react';
import type { Choice, SortName, ViewName } from '../model/rows.js';

export const VIEWS: readonly (readonly [ViewName, string])[] = [
  ['mine', 'Mine'],
  ['roles', 'My roles'],
  ['expiring', 'Expiring'],
  ['snoozed', 'Snoozed'],
  ['outcome', 'Unknown outcome'],
  ['all', 'All'],
];
export const SORTS: readonly (readonly [SortName, string])[] = [
  ['deadline', 'deadline'],
  ['age', 'waiting longest'],
  ['tool', 'tool'],
];

const TITLE = 'Inbox';

export function useChoice(): readonly [Choice, (choice: Choice) => void] {
  const [choice, setChoice] = useState(readChoice);
  useEffect(() => onWayBack(() => setChoice(readChoice())), []);
  const choose = (chosen: Choice): void => {
    const query = new URLSearchParams(location.search);
    for (const name of ['view', 'sort', 'search', 'tool'] as const) {
      const value = chosen[name] ?? '';
      if (value === '') query.delete(name);
      else query.set(name, value);
    }
    const address = `${location.pathname}?${query.toString()}`;
    // Each letter of a search is no place to go back to.
    const isStep = chosen.view !== choice.view || chosen.tool !== choice.tool;
    history[isStep ? 'pushState' : 'replaceState'](null, '', address);
    setChoice(chosen);
  };
  return [choice, choose];
}

/** Calls the listener when the browser goes back or forward. Returns how to stop. */
export function onWayBack(listener: () => void): () => void {
  addEventListener('popstate', listener);
  return () => removeEventListener('popstate', listener);
}

function readChoice(): Choice {
  const query = new URLSearchParams(location.search);
  const tool = query.get('tool');
  return {
    view: VIEWS.find(([view]) => view === query.get('view'))?.[0] ?? 'mine',
    sort: SORTS.find(([sort]) => sort === query.get('sort'))?.[0] ?? 'deadline',
    search: query.get('search') ?? '',
    ...(tool === null ? {} : { tool }),
  };
}

/** `ref` of the call that the address names. */
export function callInAddress(): string | undefined {
  return new URLSearchParams(location.search).get('call') ?? undefined;
}

export function useCallInAddress(ref: string | undefined): void {
  useEffect(() => {
    if (ref === callInAddress()) return;
    const query = new URLSearchParams(location.search);
    if (ref === undefined) query.delete('call');
    else query.set('call', ref);
    history.replaceState(null, '', `${location.pathname}?${query.toString()}`);
  }, [ref]);
}

/** Names the number of calls that wait, for a tab that is not in front. */
export function useTitle(waiting: number): void {
  useEffect(() => {
    document.title = waiting === 0 ? TITLE : `(${waiting}) ${TITLE}`;
    return () => {
      document.title = TITLE;
    };
  }, [waiting]);
}
