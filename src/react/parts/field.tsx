/** One field of an answer, with its help and its error. */
import { type ReactNode, useId } from 'react';
import type { Field, FieldType } from '../../browser/index.js';
import { type Rendered, rendered } from './rendered.js';

export interface FieldProps {
  /** `json`: any value, as its text. */
  readonly field: Omit<Field, 'type'> & { readonly type: FieldType | 'json' };
  readonly value: unknown;
  readonly error: string | undefined;
  readonly onChange: (value: unknown) => void;
  /** Behind the title of a field that may stay empty. @defaultValue "(optional)" */
  readonly optional?: string;
}

export function FormField(props: FieldProps): Rendered {
  const { field, value, error, onChange, optional = '(optional)' } = props;
  const id = useId();
  const { title, help, required, type } = field;
  const described = `${id}-help ${id}-error`;
  const own = { id, 'aria-describedby': described, 'aria-invalid': error !== undefined, required };
  return rendered(
    <div className="colloquy-field">
      <label htmlFor={id}>
        {title}
        {required || type === 'checkbox' ? '' : ` ${optional}`}
      </label>
      <Input field={field} value={value} own={own} onChange={onChange} />
      <p id={`${id}-help`} className="colloquy-help">
        {help}
      </p>
      <p id={`${id}-error`} className="colloquy-error" role="alert">
        {error === undefined ? '' : `${title} ${error}`}
      </p>
    </div>,
  );
}

interface InputProps extends Pick<FieldProps, 'field' | 'value' | 'onChange'> {
  readonly own: {
    readonly id: string;
    readonly required: boolean;
    readonly 'aria-describedby': string;
    readonly 'aria-invalid': boolean;
  };
}

function Input({ field, value, own, onChange }: InputProps): ReactNode {
  const { type, options = [] } = field;
  if (type === 'checkbox') {
    const { required: _required, ...rest } = own;
    return (
      <input
        {...rest}
        type="checkbox"
        checked={value === true}
        onChange={(event) => onChange(event.target.checked)}
      />
    );
  }
  if (type === 'select' || type === 'multi-select') {
    const isMulti = type === 'multi-select';
    return (
      <select
        {...own}
        multiple={isMulti}
        value={isMulti ? textsOf(value) : textOf(value)}
        onChange={(event) => {
          const chosen = [...event.target.selectedOptions].map((option) => option.value);
          onChange(isMulti ? chosen : (chosen[0] ?? ''));
        }}
      >
        {isMulti ? undefined : <option value="">–</option>}
        {options.map((option) => (
          <option key={String(option.value)} value={String(option.value)}>
            {option.title}
          </option>
        ))}
      </select>
    );
  }
  const text = textOf(value);
  if (type === 'json' || (type === 'text' && text.includes('\n')))
    return (
      <textarea
        {...own}
        className={type === 'json' ? 'code' : undefined}
        rows={Math.min(12, text.split('\n').length + 1)}
        value={text}
        onChange={(event) => onChange(event.target.value)}
      />
    );
  return (
    <input
      {...own}
      type={type === 'number' ? 'text' : type}
      inputMode={type === 'number' ? 'decimal' : undefined}
      value={text}
      onChange={(event) => onChange(event.target.value)}
    />
  );
}

function textOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? String(value)
    : '';
}

function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map((one) => textOf(one)) : [];
}
