/** Views, search and order of the list, and what waits to be shown. */
import type { ReactNode } from 'react';
import { SORTS, VIEWS } from '../hooks/use-choice.js';
import { SEARCH_ID } from '../hooks/use-inbox.js';
import type { UsedList } from '../hooks/use-list.js';
import type { Choice, SortName } from '../model/rows.js';

export function Bar(props: {
  readonly choice: Choice;
  readonly onChoice: (choice: Choice) => void;
  readonly list: UsedList;
  readonly selected: number;
  readonly onSelectAll: () => void;
}): ReactNode {
  const { choice, onChoice, list, selected, onSelectAll } = props;
  const { rows, fresh, over, counts } = list;
  return (
    <div className="filters">
      <Views {...{ choice, onChoice }} counts={counts} />
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
      <Tools {...{ choice, onChoice }} tools={list.tools} />
      <label>
        Sort{' '}
        <select
          value={choice.sort}
          onChange={(event) => onChoice({ ...choice, sort: event.target.value as SortName })}
        >
          {SORTS.map(([sort, text]) => (
            <option key={sort} value={sort}>
              {text}
            </option>
          ))}
        </select>
      </label>
      {/* A line of its own: the rows below stay where they are when there are changes. */}
      <div className="line">
        <button type="button" disabled={rows.length === 0} onClick={onSelectAll}>
          {selected === 0 ? `Select all ${rows.length} shown` : 'Select none'}
        </button>
        {fresh + over === 0 ? undefined : (
          <button type="button" className="fresh" onClick={list.refresh}>
            {changesText(fresh, over)}
          </button>
        )}
      </div>
    </div>
  );
}

function Views(
  props: Pick<UsedList, 'counts'> & {
    readonly choice: Choice;
    readonly onChoice: (choice: Choice) => void;
  },
): ReactNode {
  const { choice, onChoice, counts } = props;
  return (
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
          {counts[view] === undefined ? undefined : <span> {counts[view]}</span>}
        </button>
      ))}
    </fieldset>
  );
}

/** The tools of the view, with the numbers of their calls. */
function Tools(props: {
  readonly choice: Choice;
  readonly onChoice: (choice: Choice) => void;
  readonly tools: UsedList['tools'];
}): ReactNode {
  const { choice, onChoice, tools } = props;
  const { tool: chosen, ...others } = choice;
  const isKnown = chosen === undefined || tools.some(([tool]) => tool === chosen);
  return (
    <label>
      Tool{' '}
      <select
        value={chosen ?? ''}
        onChange={({ target: { value } }) =>
          onChoice(value === '' ? others : { ...others, tool: value })
        }
      >
        <option value="">all</option>
        {[...(isKnown ? [] : [[chosen, 0] as const]), ...tools].map(([tool, count]) => (
          <option key={tool} value={tool}>
            {tool} ({count})
          </option>
        ))}
      </select>
    </label>
  );
}

/** `3 new`, `3 new, 1 done` */
function changesText(fresh: number, over: number): string {
  return [...(fresh === 0 ? [] : [`${fresh} new`]), ...(over === 0 ? [] : [`${over} done`])].join(
    ', ',
  );
}
