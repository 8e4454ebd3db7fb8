/** The what-ifs of the conversation, the newest first: how each ended, its steps, and a way to cancel one that runs. */
import { type ListedWhatIf, whatIfsOf } from 'colloquy/browser/studio';
import { type ReactNode, useState } from 'react';
import { usePresent } from '../hooks/use-read.js';
import { whatIfEndWords } from '../model/what-if.js';
import { CancelWhatIf } from './cancel-what-if.js';
import type { ActsProps } from './props.js';
import { WhatIfSteps } from './what-if-steps.js';

const A_PAGE = 20;
/** The largest page of the API. */
const MAX_SHOWN = 100;

export function WhatIfs(props: ActsProps): ReactNode {
  const [isOpen, setOpen] = useState(false);
  return (
    <details className="pane" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>What-ifs of this conversation</summary>
      {isOpen ? <List {...props} /> : undefined}
    </details>
  );
}

function List(props: ActsProps): ReactNode {
  const { session, id } = props;
  const [limit, setLimit] = useState(A_PAGE);
  const read = async () => await whatIfsOf(session.client, id, { limit });
  const page = usePresent(session, read, String(limit));
  if (page.is === 'reading') return <p className="hint">Reads …</p>;
  if (page.is === 'refused') return <p className="error">{page.why}</p>;
  const { whatIfs, nextCursor } = page.value;
  if (whatIfs.length === 0) return <p className="hint">No turn has been played again.</p>;
  return (
    <>
      <ol className="what-if" aria-label="What-ifs">
        {whatIfs.map((one) => (
          <li key={one.whatIfId}>
            <Row {...props} one={one} />
          </li>
        ))}
      </ol>
      {nextCursor === undefined || limit === MAX_SHOWN ? undefined : (
        <button type="button" onClick={() => setLimit(Math.min(limit + A_PAGE, MAX_SHOWN))}>
          Older what-ifs
        </button>
      )}
      {nextCursor === undefined || limit < MAX_SHOWN ? undefined : (
        <p className="hint">The newest {MAX_SHOWN} are shown.</p>
      )}
    </>
  );
}

function Row({ one, turns, ...props }: ActsProps & { readonly one: ListedWhatIf }): ReactNode {
  const { whatIfId, turnId, agent, model, begunAt, state } = one;
  const [isShown, setShown] = useState(false);
  const turn = turns.findIndex((logged) => logged.turnId === turnId);
  const name = turn < 0 ? 'Earlier turn' : `Turn ${turn + 1}`;
  const begun = new Date(begunAt).toLocaleString();
  const of = { session: props.session, id: props.id, whatIfId };
  return (
    <>
      <details onToggle={({ currentTarget }) => setShown(currentTarget.open)}>
        <summary>
          {name}, {agent}
          {model === undefined ? '' : `, ${model}`}, <time dateTime={begunAt}>{begun}</time>:{' '}
          {whatIfEndWords(one)}
        </summary>
        {isShown ? <WhatIfSteps {...of} listedAs={`${name}, ${begun}`} /> : undefined}
      </details>
      <CancelWhatIf {...of} isRunning={state === 'running'} />
    </>
  );
}
