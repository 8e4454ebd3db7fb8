/** The view and the order of the list. They are the address of the page, so a reload and the way back keep them. */
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

export function useChoice(): readonly [Choice, (choice: Choice) => void] {
  const [choice, setChoice] = useState(readChoice);
  useEffect(() => {
    const read = (): void => setChoice(readChoice());
    addEventListener('popstate', read);
    return () => removeEventListener('popstate', read);
  }, []);
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
