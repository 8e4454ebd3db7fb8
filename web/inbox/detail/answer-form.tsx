/** The form of an answer, with the draft of the inbox. */
import { errorsByField, type Form, type Resolution, type Verdict } from 'colloquy/browser';
import { Form as AnswerFields } from 'colloquy/react';
import type { ReactNode } from 'react';
import type { Draft } from '../hooks/drafts.js';
import { ANSWER_ID } from '../hooks/use-inbox.js';

export function AnswerForm(props: {
  readonly form: Form;
  readonly draft: Draft;
  readonly onDraft: (draft: Draft) => void;
  /** The verdict of the last answer; its problems are shown at their fields. */
  readonly verdict: Verdict | undefined;
  readonly isBusy: boolean;
  readonly onAnswer: (resolution: Resolution) => void;
}): ReactNode {
  const { form, draft, onDraft, verdict, isBusy, onAnswer } = props;
  return (
    <div id={ANSWER_ID}>
      <AnswerFields
        {...{ form, isBusy }}
        errors={verdict?.verdict === 'invalid' ? errorsByField(verdict.problems) : undefined}
        entered={form.type === 'json' ? draft.json : draft.entered}
        onEntered={(entered) =>
          onDraft(typeof entered === 'string' ? { ...draft, json: entered } : { ...draft, entered })
        }
        onAnswer={(value) => onAnswer({ type: 'answer', value })}
        onDecline={() => onAnswer({ type: 'decline' })}
      />
    </div>
  );
}
