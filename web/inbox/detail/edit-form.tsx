/** The arguments as a form, with the draft of the inbox. */
import type { Json, Resolution, Verdict } from 'colloquy/browser';
import { EditForm as Edit } from 'colloquy/react';
import type { ReactNode } from 'react';
import type { Draft } from '../hooks/drafts.js';
import { EDIT_ID } from '../hooks/use-inbox.js';

export function EditForm(props: {
  readonly input: Json;
  /** JSON Schema of the input; null: none is known. */
  readonly schema: unknown;
  readonly draft: Draft;
  readonly onDraft: (draft: Draft) => void;
  readonly verdict: Verdict | undefined;
  readonly isBusy: boolean;
  readonly onAnswer: (resolution: Resolution) => void;
}): ReactNode {
  const { input, schema, draft, onDraft, verdict, isBusy, onAnswer } = props;
  return (
    <div id={EDIT_ID}>
      <Edit
        {...{ input, schema, verdict, isBusy }}
        words={{ sendKey: 'Ctrl+Enter approves with them', changes: 'What changes' }}
        entered={draft.edit}
        onEntered={(edit) => onDraft({ ...draft, edit })}
        onApprove={(edited) => onAnswer({ type: 'approve', input: edited })}
      />
    </div>
  );
}
