/** Views, search and order of the list, and what waits to be shown. */
import type { Connection } from 'colloquy/browser';
import type { ReactNode } from 'react';
import { SEARCH_ID } from '../hooks/use-inbox.js';
import type { Choice, SortName, ViewName } from '../model/rows.js';

const VIEWS: readonly (readonly [ViewName, string])[] = [
  ['mine', 'Mine'],
  ['all', 'All'],
  ['expiring', 'Expiring'],
];

export function Bar(props: {
  readonly choice: Choice;
  readonly onChoice: (choice: Choice) => void;
  readonly fresh: number;
  readonly over: number;
  readonly onRefresh: () => void;
}): ReactNode {
  const { choice, onChoice, fresh, over, onRefresh } = props;
  return (
    <div className="filters">
      <fieldset className="views">
        <legend className="hidden">View</legend>
        {VIEWS.map(([view, text]) => (
          <button
            key={view}
            type="button"
            aria-pressed={choice.view === view}
            onClick={() => onChoice({ ...choice, view })}
          >
            {text}
          </button>
        ))}
      </fieldset>
      <label className="search">
        <span className="hidden">Search</span>
        <input
          id={SEARCH_ID}
          type="search"
          placeholder="Search"
          value={choice.search}
          onChange={(event) => onChoice({ ...choice, search: event.target.value })}
          onKeyDown={(event) => {
            // Leaves the field, so that keys are commands again.
            if (event.key === 'Enter') event.currentTarget.blur();
          }}
        />
      </label>
      <label>
        Sort{' '}
        <select
          value={choice.sort}
          onChange={(event) => onChoice({ ...choice, sort: event.target.value as SortName })}
        >
          <option value="deadline">deadline</option>
          <option value="age">waiting longest</option>
        </select>
      </label>
      {fresh + over === 0 ? undefined : (
        <button type="button" className="fresh" onClick={onRefresh}>
          {changesText(fresh, over)}
        </button>
      )}
    </div>
  );
}

/** `3 new`, `3 new, 1 done` */
function changesText(fresh: number, over: number): string {
  return [...(fresh === 0 ? [] : [`${fresh} new`]), ...(over === 0 ? [] : [`${over} done`])].join(
    ', ',
  );
}

const STATES: Readonly<Record<Connection['state'], string>> = {
  off: 'Not connected',
  connecting: 'Connecting …',
  live: 'Live',
  waiting: 'The API does not answer; tries again',
  refused: 'Refused',
};

export function ConnectionState({ connection }: { readonly connection: Connection }): ReactNode {
  const { state } = connection;
  const detail = state === 'refused' ? `: ${connection.problem.detail}` : '';
  return (
    <span className={`connection ${state}`} role="status">
      {STATES[state]}
      {detail}
    </span>
  );
}
