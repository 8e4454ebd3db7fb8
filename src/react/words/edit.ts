/** The arguments of a call as a form that a person changes, and what the change is. Pure. */
import {
  checkForm,
  type Entered,
  type Field,
  formOf,
  type Json,
  type JsonSchema,
} from '../../browser/index.js';

/** `field` absent: the value is written as JSON. */
export interface EditField {
  readonly name: string;
  readonly field?: Field;
}

export interface Change {
  readonly name: string;
  /** Undefined: the field was absent, or is no longer there. */
  readonly before: Json | undefined;
  readonly after: Json | undefined;
}

export type Edited =
  | { readonly ok: true; readonly input: Json; readonly changes: readonly Change[] }
  /** Messages by name of field. */
  | { readonly ok: false; readonly errors: Readonly<Record<string, string>> };

type Fields = Readonly<Record<string, Json>>;

/** Names the whole value, where it has no fields. */
export const WHOLE = '';

/** The fields of the schema, and those of the input that the schema does not name. */
export function editFields(schema: unknown, input: Json): readonly EditField[] {
  if (!isFields(input)) return [{ name: WHOLE }];
  const {
    properties = {},
    required = [],
    $defs,
  } = (schema ?? {}) as {
    readonly properties?: Readonly<Record<string, JsonSchema>>;
    readonly required?: readonly string[];
    readonly $defs?: unknown;
  };
  const known = Object.entries(properties).map(([name, property]): EditField => {
    const form = formOf({
      type: 'object',
      properties: { [name]: simplified(property) },
      required: required.includes(name) ? [name] : [],
      ...($defs === undefined ? {} : { $defs }),
    } as JsonSchema);
    const field = form.type === 'fields' ? form.fields[0] : undefined;
    const fits = field !== undefined && canShow(field, input[name]);
    return fits ? { name, field } : { name };
  });
  const others = Object.keys(input).filter((name) => !Object.hasOwn(properties, name));
  return [...known, ...others.map((name) => ({ name }))];
}

const FORMATS: readonly unknown[] = ['email', 'uri', 'url', 'date', 'date-time'];

/** The property with those of its rules that a flat form knows; the API judges the others. */
function simplified(property: JsonSchema): JsonSchema {
  const { exclusiveMinimum, exclusiveMaximum, multipleOf: _judged, format, ...rest } = property;
  const isWhole = rest['type'] === 'integer';
  const min = typeof exclusiveMinimum === 'number' ? exclusiveMinimum : undefined;
  const max = typeof exclusiveMaximum === 'number' ? exclusiveMaximum : undefined;
  return {
    ...rest,
    ...(min === undefined ? {} : { minimum: isWhole ? Math.floor(min) + 1 : min }),
    ...(max === undefined ? {} : { maximum: isWhole ? Math.ceil(max) - 1 : max }),
    ...(FORMATS.includes(format) ? { format } : {}),
  };
}

/** Whether the input of the field can show the value. */
export function canShow({ type }: Field, value: Json | undefined): boolean {
  if (value === undefined) return true;
  if (type === 'checkbox') return typeof value === 'boolean';
  if (type === 'multi-select') return Array.isArray(value);
  return ['string', 'number', 'boolean'].includes(typeof value);
}

/** The entries that stand for the input. */
export function enteredOf(fields: readonly EditField[], input: Json): Entered {
  return Object.fromEntries(
    fields.flatMap(({ name, field }) => {
      const value = valueOf(input, name);
      return value === undefined ? [] : [[name, entryOf(field, value)]];
    }),
  );
}

/** The value as the input of the field has it. */
export function entryOf(field: Field | undefined, value: Json): unknown {
  if (field === undefined) return JSON.stringify(value, null, 2);
  if (field.type === 'datetime-local') return localTime(textOf(value));
  if (field.type === 'multi-select') return (value as readonly Json[]).map(textOf);
  return field.type === 'checkbox' ? value : textOf(value);
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value);
}

/** The time by the clock of the page, as an input of this type has it. */
function localTime(text: string): string {
  const time = new Date(text);
  if (Number.isNaN(time.getTime())) return text;
  return new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
}

/** The input as it was entered. A field that was not touched keeps its value to the letter. */
export function editedInput(fields: readonly EditField[], input: Json, entered: Entered): Edited {
  const before = enteredOf(fields, input);
  const errors: [string, string][] = [];
  const values: [string, Json][] = [];
  for (const one of fields) {
    const { name } = one;
    const old = valueOf(input, name);
    const isSame = JSON.stringify(entered[name]) === JSON.stringify(before[name]);
    const checked = isSame ? { value: old } : checkedEntry(one, entered[name]);
    if ('error' in checked) errors.push([name, checked.error]);
    else if (checked.value !== undefined) values.push([name, checked.value]);
  }
  if (errors.length > 0) return { ok: false, errors: Object.fromEntries(errors) };
  const after = isFields(input) ? Object.fromEntries(values) : (values[0]?.[1] ?? null);
  return { ok: true, input: after, changes: changesOf(input, after) };
}

function checkedEntry(
  { name, field }: EditField,
  entry: unknown,
): { readonly value: Json | undefined } | { readonly error: string } {
  if (field === undefined) {
    const text = textOf(entry).trim();
    if (text === '' && name !== WHOLE) return { value: undefined };
    try {
      return { value: JSON.parse(text) as Json };
    } catch {
      return { error: 'is not JSON' };
    }
  }
  const checked = checkForm({ type: 'fields', fields: [field] }, { [name]: entry });
  return checked.ok
    ? { value: valueOf(checked.value, name) }
    : { error: checked.errors[name] ?? 'is not valid' };
}

/** The fields that differ, in the order of their names in both. */
export function changesOf(before: Json, after: Json): readonly Change[] {
  if (!isFields(before) || !isFields(after))
    return isSameJson(before, after) ? [] : [{ name: WHOLE, before, after }];
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return names
    .map((name) => ({ name, before: valueOf(before, name), after: valueOf(after, name) }))
    .filter((change) => !isSameJson(change.before, change.after));
}

function isSameJson(a: Json | undefined, b: Json | undefined): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

function valueOf(value: Json, name: string): Json | undefined {
  if (name === WHOLE && !isFields(value)) return value;
  return isFields(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

function isFields(value: Json): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
