/** One decision on many calls: which they are, which are left out and why. Enter decides nothing. */
import type { Resolution } from 'colloquy/browser';
import { type ReactNode, useState } from 'react';
import { Dialog } from '../../shared/dialog.js';
import { Denial } from '../detail/decision.js';
import type { Draft } from '../hooks/drafts.js';
import { notByEnter } from '../model/keys.js';
import type { Summary } from '../model/selection.js';

export function Bulk(props: {
  readonly type: 'approve' | 'deny';
  readonly summary: Summary;
  readonly onDecide: (resolution: Resolution) => void;
  readonly onClose: () => void;
}): ReactNode {
  const { type, summary, onDecide, onClose } = props;
  const { items, byTool, highRisk, hidden, leftOut } = summary;
  const [draft, setDraft] = useState<Draft>({});
  const calls = items.length === 1 ? '1 call' : `${items.length} calls`;
  return (
    <Dialog title={`${type === 'approve' ? 'Approve' : 'Deny'} ${calls}?`} onClose={onClose}>
      <Counts counts={byTool} />
      {highRisk === 0 ? undefined : (
        <p className="risk high">{highRisk} of them are of high risk.</p>
      )}
      {hidden === 0 ? undefined : <p>{hidden} of them are not in the list as it is shown.</p>}
      {leftOut.length === 0 ? undefined : (
        <>
          <p>Left out:</p>
          <Counts counts={leftOut} />
        </>
      )}
      {type === 'deny' ? (
        <Denial
          draft={draft}
          onDraft={setDraft}
          onDenying={onClose}
          isBusy={items.length === 0}
          onAnswer={onDecide}
          label={`Reason for ${calls} (the models read it)`}
        />
      ) : (
        <div className="actions">
          <button
            type="button"
            className="good"
            autoFocus
            disabled={items.length === 0}
            onKeyDown={notByEnter}
            onClick={() => onDecide({ type: 'approve' })}
          >
            Approve {calls}
          </button>
          <button type="button" onClick={onClose}>
            Back
          </button>
          <span className="hint">The space bar approves</span>
        </div>
      )}
    </Dialog>
  );
}

function Counts({ counts }: { readonly counts: Summary['byTool'] }): ReactNode {
  return (
    <ul className="counts">
      {counts.map(([name, count]) => (
        <li key={name}>
          {count} {name}
        </li>
      ))}
    </ul>
  );
}
