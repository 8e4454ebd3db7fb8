/** The buttons of an approval. Enter presses none of them: a decision takes the space bar, a click, or a key of its own. */
import type { Resolution } from 'colloquy/browser';
import { type KeyboardEvent, type ReactNode, useEffect, useRef } from 'react';
import type { Draft } from '../hooks/drafts.js';

export interface DecisionProps {
  readonly draft: Draft;
  readonly onDraft: (draft: Draft) => void;
  readonly isDenying: boolean;
  readonly onDenying: (isDenying: boolean) => void;
  readonly isBusy: boolean;
  readonly onAnswer: (resolution: Resolution) => void;
}

function notByEnter(event: KeyboardEvent): void {
  if (event.key === 'Enter') event.preventDefault();
}

export function Decision(props: DecisionProps): ReactNode {
  const { isDenying, onDenying, isBusy, onAnswer } = props;
  return (
    <section aria-label="Decision">
      <div className="actions">
        <button
          type="button"
          className="good"
          disabled={isBusy}
          onKeyDown={notByEnter}
          onClick={() => onAnswer({ type: 'approve' })}
        >
          Approve
        </button>
        <button
          type="button"
          className="bad"
          disabled={isBusy}
          aria-expanded={isDenying}
          onKeyDown={notByEnter}
          onClick={() => onDenying(!isDenying)}
        >
          Deny …
        </button>
      </div>
      {isDenying ? <Denial {...props} /> : undefined}
    </section>
  );
}

/** Also for several calls at once. */
export function Denial(
  props: Omit<DecisionProps, 'isDenying'> & { readonly label?: string },
): ReactNode {
  const {
    draft,
    onDraft,
    onDenying,
    isBusy,
    onAnswer,
    label = 'Reason (the model reads it)',
  } = props;
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => field.current?.focus(), []);
  const reason = draft.reason ?? '';
  const deny = (): void => {
    if (isBusy) return;
    onAnswer(reason.trim() === '' ? { type: 'deny' } : { type: 'deny', reason: reason.trim() });
    onDenying(false);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) deny();
    // Closes the field, which keeps its text.
    if (event.key === 'Escape') onDenying(false);
  };
  return (
    <div className="field" onKeyDown={onKeyDown}>
      <label>
        {label}
        <textarea
          ref={field}
          rows={3}
          value={reason}
          onChange={(event) => onDraft({ ...draft, reason: event.target.value })}
        />
      </label>
      <div className="actions">
        <button
          type="button"
          className="bad"
          disabled={isBusy}
          onKeyDown={notByEnter}
          onClick={deny}
        >
          Deny
        </button>
        <button type="button" onClick={() => onDenying(false)}>
          Back
        </button>
        <span className="hint">Ctrl+Enter denies</span>
      </div>
    </div>
  );
}
