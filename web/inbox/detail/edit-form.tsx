/** The arguments as a form: each change is checked at once, and shown beside what was there before. */
import { errorsByField, type Json, type Resolution, type Verdict } from 'colloquy/browser';
import { type KeyboardEvent, type ReactNode, useEffect, useMemo, useRef } from 'react';
import type { Draft } from '../hooks/drafts.js';
import { EDIT_ID } from '../hooks/use-inbox.js';
import {
  type Change,
  type EditField,
  editedInput,
  editFields,
  enteredOf,
  WHOLE,
} from '../model/edit.js';
import { notByEnter } from '../model/keys.js';
import { FormField } from './field.js';

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
  const fields = useMemo(() => editFields(schema, input), [schema, input]);
  const entered = { ...enteredOf(fields, input), ...draft.edit };
  const edited = editedInput(fields, input, entered);
  const errors = { ...refusedBy(verdict), ...(edited.ok ? {} : edited.errors) };
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => form.current?.querySelector<HTMLElement>('input, select, textarea')?.focus(), []);
  const mayApprove = edited.ok && edited.changes.length > 0 && !isBusy;
  const approve = (): void => {
    if (edited.ok && mayApprove) onAnswer({ type: 'approve', input: edited.input });
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) approve();
  };
  return (
    <form
      id={EDIT_ID}
      ref={form}
      noValidate
      onSubmit={(event) => event.preventDefault()}
      onKeyDown={onKeyDown}
    >
      <h3>Change the arguments</h3>
      {fields.map((one) => (
        <OneField
          key={one.name}
          one={one}
          value={entered[one.name]}
          error={errors[one.name]}
          onChange={(value) => onDraft({ ...draft, edit: { ...draft.edit, [one.name]: value } })}
        />
      ))}
      <p className="error" role="alert">
        {errors[WHOLE]}
      </p>
      <Changes changes={edited.ok ? edited.changes : []} />
      <Buttons
        mayApprove={mayApprove}
        onApprove={approve}
        onUndo={() => onDraft({ ...draft, edit: undefined })}
      />
    </form>
  );
}

function Buttons(props: {
  readonly mayApprove: boolean;
  readonly onApprove: () => void;
  readonly onUndo: () => void;
}): ReactNode {
  return (
    <div className="actions">
      <button
        type="button"
        className="good"
        disabled={!props.mayApprove}
        onKeyDown={notByEnter}
        onClick={props.onApprove}
      >
        Approve with these changes
      </button>
      <button type="button" onClick={props.onUndo}>
        Undo all changes
      </button>
      <span className="hint">Ctrl+Enter approves with them</span>
    </div>
  );
}

/** The API names fields below `/resolution/input`. */
function refusedBy(verdict: Verdict | undefined): Readonly<Record<string, string>> {
  if (verdict?.verdict !== 'invalid') return {};
  return errorsByField(
    verdict.problems.map(({ path, ...rest }) => {
      return { ...rest, path: path.replace('/resolution/input', '/resolution/value') };
    }),
  );
}

function OneField(props: {
  readonly one: EditField;
  readonly value: unknown;
  readonly error: string | undefined;
  readonly onChange: (value: unknown) => void;
}): ReactNode {
  const { one, ...rest } = props;
  const { name, field = { name, type: 'json', title: name || 'Arguments', required: false } } = one;
  return <FormField field={field} {...rest} />;
}

function Changes({ changes }: { readonly changes: readonly Change[] }): ReactNode {
  return (
    <section aria-label="Changes" aria-live="polite">
      <h3>{changes.length === 0 ? 'No change yet' : 'What changes'}</h3>
      {changes.map(({ name, before, after }) => (
        <dl key={name} className="change">
          <dt>{name === WHOLE ? 'Arguments' : name}</dt>
          <dd>
            <del>
              <span className="hidden">before: </span>
              {jsonOf(before)}
            </del>
            <span aria-hidden="true"> → </span>
            <ins>
              <span className="hidden">after: </span>
              {jsonOf(after)}
            </ins>
          </dd>
        </dl>
      ))}
    </section>
  );
}

function jsonOf(value: Json | undefined): string {
  if (value === undefined) return 'absent';
  return JSON.stringify(value, null, typeof value === 'object' ? 2 : 0);
}
