/**
 * Makes the answer of the values that a person entered, with errors by field. The API judges each answer itself; these
 * checks only save a request for what a page can see.
 */
import type { FieldProblem } from '../../protocol/values/field-problem.js';
import { isRecord, type Json } from '../../protocol/values/json.js';
import type { Field, Form } from './form.js';
import { valuePath } from './value-path.js';

/** Entered values by field: texts of inputs, `true` or `'on'` of checkboxes, lists of a `multi-select`. */
export type Entered = Readonly<Record<string, unknown>>;

export type CheckedForm =
  | { readonly ok: true; readonly value: Json }
  /** Messages by name of field; '' is the form as a whole. */
  | { readonly ok: false; readonly errors: Readonly<Record<string, string>> };

type Checked = { readonly value?: Json } | { readonly error: string };

/** @param entered Values by field; for a form of type `json` the text. */
export function checkForm(form: Form, entered: Entered | string): CheckedForm {
  if (form.type === 'json') return checkJson(entered);
  const values: Record<string, Json> = {};
  const errors: Record<string, string> = {};
  for (const field of form.fields) {
    const given =
      isRecord(entered) && Object.hasOwn(entered, field.name) ? entered[field.name] : undefined;
    const checked = checkField(field, given);
    if ('error' in checked) set(errors, field.name, checked.error);
    else if (checked.value !== undefined) set(values, field.name, checked.value);
  }
  return Object.keys(errors).length > 0 ? { ok: false, errors } : { ok: true, value: values };
}

/** The problems of a refused answer (`verdict: 'invalid'`) by name of field, for display in the form. */
export function errorsByField(problems: readonly FieldProblem[]): Readonly<Record<string, string>> {
  const errors: Record<string, string> = {};
  for (const { path, message } of problems) {
    const [, name = ''] = valuePath(path).split('/');
    set(errors, name.replaceAll('~1', '/').replaceAll('~0', '~'), message);
  }
  return errors;
}

/** A plain assignment would change the prototype for a field of the name `__proto__`. */
function set<Value>(record: Record<string, Value>, name: string, value: Value): void {
  Object.defineProperty(record, name, {
    ...{ value, enumerable: true, configurable: true, writable: true },
  });
}

function checkJson(entered: Entered | string): CheckedForm {
  if (typeof entered !== 'string') return { ok: true, value: entered as Json };
  try {
    return { ok: true, value: JSON.parse(entered) as Json };
  } catch {
    return { ok: false, errors: { '': 'is not JSON' } };
  }
}

function checkField(field: Field, entered: unknown): Checked {
  if (field.type === 'checkbox')
    return { value: entered === true || entered === 'on' || entered === 'true' };
  if (field.type === 'multi-select') return checkList(field, entered);
  const text = typeof entered === 'string' || typeof entered === 'number' ? `${entered}` : '';
  if (text.trim() === '') return field.required ? { error: 'is required' } : {};
  if (field.type === 'select') {
    const option = optionOf(field, entered);
    return option === undefined ? { error: 'must be one of the options' } : { value: option };
  }
  return field.type === 'number' ? checkNumber(field, text) : checkText(field, text);
}

function checkNumber({ min, max, whole }: Field, text: string): Checked {
  const value = Number(text);
  if (!Number.isFinite(value)) return { error: 'must be a number' };
  if (whole === true && !Number.isInteger(value)) return { error: 'must be a whole number' };
  if (min !== undefined && value < min) return { error: `must be at least ${min}` };
  if (max !== undefined && value > max) return { error: `must be at most ${max}` };
  return { value };
}

function checkText({ type, min, max }: Field, text: string): Checked {
  const { length } = Array.from(text);
  if (min !== undefined && length < min) return { error: `must have at least ${min} characters` };
  if (max !== undefined && length > max) return { error: `must have at most ${max} characters` };
  switch (type) {
    case 'email':
      return /^[^\s@]+@[^\s@]+$/.test(text)
        ? { value: text }
        : { error: 'must be an e-mail address' };
    case 'url':
      return URL.canParse(text)
        ? { value: text }
        : { error: 'must be an address such as https://…' };
    case 'date':
      return isDate(text) ? { value: text } : { error: 'must be a date such as 2030-01-31' };
    case 'datetime-local': {
      // An input of this type gives a local time without its offset, which JSON Schema needs.
      const time = new Date(text);
      return Number.isNaN(time.getTime())
        ? { error: 'must be a date and a time' }
        : { value: time.toISOString() };
    }
    default:
      return { value: text };
  }
}

/** Whether the day exists: 30 February becomes another one. */
function isDate(text: string): boolean {
  const day = new Date(`${text}T00:00:00Z`);
  return (
    /^\d{4}-\d\d-\d\d$/.test(text) &&
    !Number.isNaN(day.getTime()) &&
    day.toISOString().startsWith(text)
  );
}

function checkList(field: Field, entered: unknown): Checked {
  const given: readonly unknown[] = Array.isArray(entered)
    ? entered
    : entered === undefined || entered === ''
      ? []
      : [entered];
  const values = given.map((value) => optionOf(field, value));
  if (values.includes(undefined)) return { error: 'must be among the options' };
  const { required, min = 0, max } = field;
  if (values.length === 0 && !required) return {};
  if (values.length < min) return { error: `must have at least ${min} of the options` };
  if (max !== undefined && values.length > max)
    return { error: `must have at most ${max} of the options` };
  return { value: values.filter((value) => value !== undefined) };
}

/** Values of HTML's `option` are texts, so numbers are found by their text. */
function optionOf({ options = [] }: Field, entered: unknown): Json | undefined {
  return options.find(({ value }) => String(value) === String(entered))?.value;
}
