/** The form of an answer, made from the schema that the API gives. Enter sends nothing; Ctrl+Enter does. */
import {
  checkForm,
  type Entered,
  errorsByField,
  type Form,
  type Resolution,
  type Verdict,
} from 'colloquy/browser';
import { type KeyboardEvent, type ReactNode, useState } from 'react';
import type { Draft } from '../hooks/drafts.js';
import { ANSWER_ID } from '../hooks/use-inbox.js';
import { FormField } from './field.js';

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
  const [own, setOwn] = useState<Readonly<Record<string, string>>>({});
  const refused = verdict?.verdict === 'invalid' ? errorsByField(verdict.problems) : {};
  const errors = { ...refused, ...own };
  const entered = draft.entered ?? defaultsOf(form);
  const send = (): void => {
    if (isBusy) return;
    const checked = checkForm(form, form.type === 'json' ? (draft.json ?? '') : entered);
    setOwn(checked.ok ? {} : checked.errors);
    if (checked.ok) onAnswer({ type: 'answer', value: checked.value });
    else focusFirstError();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) send();
  };
  return (
    <form
      id={ANSWER_ID}
      onSubmit={(event) => event.preventDefault()}
      onKeyDown={onKeyDown}
      noValidate
    >
      <h3>{form.type === 'fields' ? (form.title ?? 'Answer') : 'Answer'}</h3>
      <Fields
        {...{ form, entered, errors, draft }}
        onDraft={(changed) => {
          setOwn({});
          onDraft(changed);
        }}
      />
      <p className="error" role="alert">
        {errors['']}
      </p>
      <div className="actions">
        <button type="button" className="good" disabled={isBusy} onClick={send}>
          Answer
        </button>
        <button type="button" disabled={isBusy} onClick={() => onAnswer({ type: 'decline' })}>
          Decline
        </button>
      </div>
    </form>
  );
}

function Fields(props: {
  readonly form: Form;
  readonly entered: Entered;
  readonly errors: Readonly<Record<string, string>>;
  readonly draft: Draft;
  readonly onDraft: (draft: Draft) => void;
}): ReactNode {
  const { form, entered, errors, draft, onDraft } = props;
  if (form.type === 'json') return <JsonField form={form} draft={draft} onDraft={onDraft} />;
  return form.fields.map((field) => (
    <FormField
      key={field.name}
      field={field}
      value={entered[field.name]}
      error={errors[field.name]}
      onChange={(value) => onDraft({ ...draft, entered: { ...entered, [field.name]: value } })}
    />
  ));
}

function JsonField(props: {
  readonly form: Extract<Form, { type: 'json' }>;
  readonly draft: Draft;
  readonly onDraft: (draft: Draft) => void;
}): ReactNode {
  const { form, draft, onDraft } = props;
  return (
    <div className="field">
      <label htmlFor="json">Answer as JSON</label>
      <textarea
        id="json"
        rows={6}
        value={draft.json ?? ''}
        onChange={(event) => onDraft({ ...draft, json: event.target.value })}
      />
      <details>
        <summary>Schema</summary>
        <pre tabIndex={0}>{JSON.stringify(form.schema, null, 2)}</pre>
      </details>
    </div>
  );
}

function defaultsOf(form: Form): Entered {
  if (form.type === 'json') return {};
  return Object.fromEntries(
    form.fields.flatMap(({ name, default: given }) => (given === undefined ? [] : [[name, given]])),
  );
}

/** After the errors are shown. */
function focusFirstError(): void {
  setTimeout(() => {
    document.querySelector<HTMLElement>(`#${ANSWER_ID} [aria-invalid="true"]`)?.focus();
  });
}
