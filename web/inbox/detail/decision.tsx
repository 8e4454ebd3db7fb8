/** The buttons of an approval. Enter presses none of them: a decision takes the space bar, a click, or a key of its own. */
import type { Json, Resolution, Verdict } from 'colloquy/browser';
import type { AgentManifest } from 'colloquy/browser/worklist';
import { useInputSchema } from 'colloquy/react';
import { type KeyboardEvent, type ReactNode, useEffect, useRef } from 'react';
import type { Session } from '../../session/session.js';
import type { Draft } from '../hooks/drafts.js';
import { DECISION_ID, decisionOf } from '../hooks/use-inbox.js';
import { notByEnter } from '../model/keys.js';
import { EditForm } from './edit-form.js';
import { Remember } from './rules.js';

export interface DecisionProps {
  readonly draft: Draft;
  readonly onDraft: (draft: Draft) => void;
  readonly isDenying: boolean;
  readonly onDenying: (isDenying: boolean) => void;
  readonly isBusy: boolean;
  readonly onAnswer: (resolution: Resolution) => void;
}

export interface DecidedCall {
  readonly session: Session;
  readonly agent: AgentManifest['name'];
  readonly tool: string;
  /** The arguments; undefined until they are read. */
  readonly input: Json | undefined;
  readonly verdict: Verdict | undefined;
}

export function Decision(props: DecisionProps & { readonly call: DecidedCall }): ReactNode {
  const { draft, onDraft, isDenying, onDenying, isBusy, onAnswer, call } = props;
  const { input } = call;
  const isEditing = draft.edit !== undefined && input !== undefined;
  return (
    <section id={DECISION_ID} aria-label="Decision">
      <div className="actions">
        <button
          type="button"
          className="good"
          disabled={isBusy || isEditing}
          onKeyDown={notByEnter}
          onClick={() => onAnswer(decisionOf({ type: 'approve' }, draft))}
        >
          Approve
        </button>
        <button
          type="button"
          className="edit"
          disabled={isBusy || input === undefined}
          aria-expanded={isEditing}
          onClick={() => onDraft({ ...draft, edit: draft.edit ?? {} })}
        >
          Edit …
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
      {isDenying ? (
        <Denial
          {...props}
          onAnswer={(denial) =>
            onAnswer(denial.type === 'deny' ? decisionOf(denial, draft) : denial)
          }
        />
      ) : undefined}
      {isEditing ? (
        <Editing {...{ draft, onDraft, isBusy, onAnswer }} call={call} input={input} />
      ) : (
        <Remember tool={call.tool} {...{ input, draft, onDraft }} />
      )}
    </section>
  );
}

function Editing(
  props: Pick<DecisionProps, 'draft' | 'onDraft' | 'isBusy' | 'onAnswer'> & {
    readonly call: DecidedCall;
    readonly input: Json;
  },
): ReactNode {
  const { call, ...rest } = props;
  const { session, agent, tool, verdict } = call;
  const schema = useInputSchema(session.client, { agent, tool });
  return schema === undefined ? (
    <p role="status">Reads the form of the arguments …</p>
  ) : (
    <EditForm {...rest} schema={schema} verdict={verdict} />
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
    // These keys are of the input method while it composes a text.
    if (event.nativeEvent.isComposing) return;
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
          maxLength={MAX_REASON_CHARS}
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

/** The API refuses longer reasons. */
const MAX_REASON_CHARS = 2_000;
