/** The form of an answer, made from the schema that the API gives. Enter sends nothing; Ctrl+Enter does. */
import { type KeyboardEvent, type ReactNode, useId, useRef, useState } from 'react';
import { checkForm, type Entered, type Form as FormShape, type Json } from '../../browser/index.js';
import { canShow, entryOf } from '../words/edit.js';
import { type OwnWords, type PartWords, wordsOf } from '../words/words.js';
import { FormField } from './field.js';
import { isSendKey } from './keys.js';
import { type Rendered, rendered } from './rendered.js';

export interface FormProps {
  /** From `formOf`, or of a waiting call. */
  readonly form: FormShape;
  readonly onAnswer: (value: Json) => void;
  /** Absent: there is no button that declines. */
  readonly onDecline?: (() => void) | undefined;
  /** Problems that the API found, by name of field; '' is the form as a whole. */
  readonly errors?: Readonly<Record<string, string>> | undefined;
  /**
   * The values, where the application keeps them (with `onEntered`): of a form of type `json` the text. Undefined: the
   * defaults of the form.
   */
  readonly entered?: Entered | string | undefined;
  readonly onEntered?: ((entered: Entered | string) => void) | undefined;
  readonly isBusy?: boolean;
  readonly words?: OwnWords | undefined;
}

export function Form(props: FormProps): Rendered {
  const { form, onAnswer, onDecline, isBusy = false, onEntered } = props;
  const words = wordsOf(props.words);
  const element = useRef<HTMLFormElement>(null);
  const [kept, setKept] = useState<Entered | string>();
  const [own, setOwn] = useState<Readonly<Record<string, string>>>({});
  const entered = (onEntered === undefined ? kept : props.entered) ?? defaultsOf(form);
  const errors = { ...props.errors, ...own };
  const enter = (changed: Entered | string): void => {
    setOwn({});
    (onEntered ?? setKept)(changed);
  };
  const send = (): void => {
    if (isBusy) return;
    const checked = checkForm(form, entered);
    setOwn(checked.ok ? {} : checked.errors);
    if (checked.ok) onAnswer(checked.value);
    else focusFirstError(element.current);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (isSendKey(event)) send();
  };
  return rendered(
    <form
      ref={element}
      className="colloquy-form"
      onSubmit={(event) => event.preventDefault()}
      onKeyDown={onKeyDown}
      noValidate
    >
      <p className="colloquy-title">
        {(form.type === 'fields' ? form.title : undefined) ?? words.answer}
      </p>
      {form.type === 'fields' && form.help !== undefined ? <p>{form.help}</p> : undefined}
      <Fields {...{ form, entered, errors, words }} onEntered={enter} />
      <p className="colloquy-error" role="alert">
        {errors['']}
      </p>
      <div className="colloquy-actions">
        <button type="button" className="colloquy-answer" disabled={isBusy} onClick={send}>
          {words.answer}
        </button>
        {onDecline === undefined ? undefined : (
          <button
            type="button"
            className="colloquy-decline"
            disabled={isBusy}
            onClick={() => onDecline()}
          >
            {words.decline}
          </button>
        )}
      </div>
    </form>,
  );
}

interface FieldsProps {
  readonly form: FormShape;
  readonly entered: Entered | string;
  readonly errors: Readonly<Record<string, string>>;
  readonly words: PartWords;
  readonly onEntered: (entered: Entered | string) => void;
}

function Fields({ form, entered, errors, words, onEntered }: FieldsProps): ReactNode {
  if (form.type === 'json') return <JsonField {...{ form, entered, words, onEntered }} />;
  const values = typeof entered === 'string' ? {} : entered;
  return form.fields.map((field) => (
    <FormField
      key={field.name}
      field={field}
      value={values[field.name]}
      error={errors[field.name]}
      optional={words.optional}
      onChange={(value) => onEntered({ ...values, [field.name]: value })}
    />
  ));
}

function JsonField(
  props: Omit<FieldsProps, 'errors' | 'form'> & {
    readonly form: Extract<FormShape, { type: 'json' }>;
  },
): ReactNode {
  const { form, entered, words, onEntered } = props;
  const id = useId();
  return (
    <div className="colloquy-field">
      <label htmlFor={id}>{words.answerAsJson}</label>
      <textarea
        id={id}
        rows={6}
        value={typeof entered === 'string' ? entered : ''}
        onChange={(event) => onEntered(event.target.value)}
      />
      <details>
        <summary>{words.schema}</summary>
        <pre tabIndex={0}>{JSON.stringify(form.schema, null, 2)}</pre>
      </details>
    </div>
  );
}

/** As the inputs show them: a value that is not shown is not sent. */
function defaultsOf(form: FormShape): Entered | string {
  if (form.type === 'json') return '';
  return Object.fromEntries(
    form.fields.flatMap((field) => {
      const { name, default: given } = field;
      return given !== undefined && canShow(field, given) ? [[name, entryOf(field, given)]] : [];
    }),
  );
}

/** After the errors are shown. */
function focusFirstError(form: HTMLFormElement | null): void {
  setTimeout(() => {
    form?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  });
}
