/** The view and the order of the list. They are part of the address, so a bookmark keeps them. */
import { useState } from 'react';
import type { Choice, SortName, ViewName } from '../model/rows.js';

const VIEWS: readonly string[] = ['mine', 'all', 'expiring'] satisfies readonly ViewName[];
const SORTS: readonly string[] = ['deadline', 'age'] satisfies readonly SortName[];

export function useChoice(): readonly [Choice, (choice: Choice) => void] {
  const [choice, setChoice] = useState(() => choiceOf(new URLSearchParams(location.search)));
  const choose = (chosen: Choice): void => {
    const { view, sort, search } = chosen;
    const query = new URLSearchParams({ view, sort, ...(search === '' ? {} : { search }) });
    history.replaceState(null, '', `${location.pathname}?${query.toString()}`);
    setChoice(chosen);
  };
  return [choice, choose];
}

function choiceOf(query: URLSearchParams): Choice {
  const [view, sort] = [query.get('view') ?? '', query.get('sort') ?? ''];
  return {
    view: VIEWS.includes(view) ? (view as ViewName) : 'mine',
    sort: SORTS.includes(sort) ? (sort as SortName) : 'deadline',
    search: query.get('search') ?? '',
  };
}
