/** The arguments as a form: each change is checked at once, and shown beside what was there before. */
import { type KeyboardEvent, type ReactNode, useEffect, useMemo, useRef, useState } from 'react';
import { type Entered, errorsByField, type Json, type Verdict } from '../../browser/index.js';
import {
  type Change,
  type EditField,
  editedInput,
  editFields,
  enteredOf,
  WHOLE,
} from '../words/edit.js';
import { type OwnWords, type PartWords, wordsOf } from '../words/words.js';
import { FormField } from './field.js';
import { isSendKey, notByEnter } from './keys.js';
import { type Rendered, rendered } from './rendered.js';

export interface EditFormProps {
  readonly input: Json;
  /** JSON Schema of the input; absent or null: none is known. */
  readonly schema?: unknown;
  readonly onApprove: (input: Json) => void;
  /** The entries that were changed, where the application keeps them (with `onEntered`). Undefined: none was. */
  readonly entered?: Entered | undefined;
  /** Undefined: all changes were undone. */
  readonly onEntered?: ((entered: Entered | undefined) => void) | undefined;
  /** The verdict on the last answer: its problems are shown at their fields. */
  readonly verdict?: Verdict | undefined;
  readonly isBusy?: boolean;
  readonly words?: OwnWords | undefined;
}

/** Takes the focus when it is mounted. Enter approves nothing; Ctrl+Enter approves the changes. */
export function EditForm(props: EditFormProps): Rendered {
  const { input, schema, verdict, isBusy = false, onApprove, onEntered } = props;
  const words = wordsOf(props.words);
  const [kept, setKept] = useState<Entered>();
  const own = onEntered === undefined ? kept : props.entered;
  const fields = useMemo(() => editFields(schema, input), [schema, input]);
  const entered = { ...enteredOf(fields, input), ...own };
  const edited = editedInput(fields, input, entered);
  const errors = { ...refusedBy(verdict), ...(edited.ok ? {} : edited.errors) };
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => form.current?.querySelector<HTMLElement>('input, select, textarea')?.focus(), []);
  const enter = (changed: Entered | undefined): void => {
    (onEntered ?? setKept)(changed);
  };
  const mayApprove = edited.ok && edited.changes.length > 0 && !isBusy;
  const approve = (): void => {
    if (edited.ok && mayApprove) onApprove(edited.input);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (isSendKey(event)) approve();
  };
  return rendered(
    <form
      ref={form}
      className="colloquy-edit-form"
      noValidate
      onSubmit={(event) => event.preventDefault()}
      onKeyDown={onKeyDown}
    >
      <p className="colloquy-title">{words.changeArguments}</p>
      {fields.map((one) => (
        <FormField
          key={one.name}
          field={shownField(one, words)}
          value={entered[one.name]}
          error={errors[one.name]}
          optional={words.optional}
          onChange={(value) => enter({ ...own, [one.name]: value })}
        />
      ))}
      <p className="colloquy-error" role="alert">
        {errors[WHOLE]}
      </p>
      <Changes changes={edited.ok ? edited.changes : []} words={words} />
      <Buttons {...{ mayApprove, words }} onApprove={approve} onUndo={() => enter(undefined)} />
    </form>,
  );
}

function shownField({ name, field }: EditField, words: PartWords) {
  return field ?? { name, type: 'json' as const, title: name || words.arguments, required: false };
}

function Buttons(props: {
  readonly mayApprove: boolean;
  readonly words: PartWords;
  readonly onApprove: () => void;
  readonly onUndo: () => void;
}): ReactNode {
  const { words } = props;
  return (
    <div className="colloquy-actions">
      <button
        type="button"
        className="colloquy-approve"
        disabled={!props.mayApprove}
        onKeyDown={notByEnter}
        onClick={props.onApprove}
      >
        {words.approveEdited}
      </button>
      <button type="button" onClick={props.onUndo}>
        {words.undoEdits}
      </button>
      <span className="colloquy-help">{words.sendKey}</span>
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

function Changes(props: {
  readonly changes: readonly Change[];
  readonly words: PartWords;
}): ReactNode {
  const { changes, words } = props;
  return (
    <section aria-label={words.changes} aria-live="polite">
      <p className="colloquy-title">{changes.length === 0 ? words.noChange : words.changes}</p>
      {changes.map(({ name, before, after }) => (
        <dl key={name} className="colloquy-change">
          <dt>{name === WHOLE ? words.arguments : name}</dt>
          <dd>
            <del>
              <span className="colloquy-hidden">{words.before} </span>
              {before === undefined ? words.absent : jsonOf(before)}
            </del>
            <span aria-hidden="true"> → </span>
            <ins>
              <span className="colloquy-hidden">{words.after} </span>
              {after === undefined ? words.absent : jsonOf(after)}
            </ins>
          </dd>
        </dl>
      ))}
    </section>
  );
}

function jsonOf(value: Json): string {
  return JSON.stringify(value, null, typeof value === 'object' ? 2 : 0);
}
