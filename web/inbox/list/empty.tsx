/** The sentence in place of a list without a row, and the way back where the search or the tool leave none. */
import type { WorklistView } from 'colloquy/browser/worklist';
import type { ReactNode } from 'react';
import { emptyWords } from '../../shared/face.js';
import type { Choice } from '../model/rows.js';

export function Empty(props: {
  readonly view: WorklistView;
  readonly choice: Choice;
  readonly onChoice: (choice: Choice) => void;
}): ReactNode {
  const { view, choice, onChoice } = props;
  const { tool, search, ...rest } = choice;
  const words = search.trim();
  const isNarrowed = view.isRead && (tool !== undefined || words !== '');
  return (
    <div className="empty">
      <p>
        {isNarrowed
          ? `No call${tool === undefined ? '' : ` of ${tool}`}${words === '' ? ' waits here' : ` has “${words}”`}.`
          : emptyWords(view, { reading: 'Reads the calls …', none: 'No call waits here.' })}
      </p>
      {isNarrowed ? (
        <button type="button" onClick={() => onChoice({ ...rest, search: '' })}>
          Clear{' '}
          {[words === '' ? [] : 'search', tool === undefined ? [] : 'tool'].flat().join(' and ')}
        </button>
      ) : undefined}
    </div>
  );
}
