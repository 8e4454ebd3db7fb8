/**
 * Forms of values that workers return. A worker may be of any version and in any language, and its results are in the
 * history: a result of another form must not fail the workflow task again and again. Pure; no form throws.
 */
import { isRecord } from '../../protocol/values/json.js';

/** The first problem of a value, beginning with its JSON Pointer; undefined when the value has the form. */
export type Form = (value: unknown) => string | undefined;

const { isArray } = Array;
const { values } = Object;

export const aText: Form = (value) => (typeof value === 'string' ? undefined : ' must be a text');
export const aNumber: Form = (value) =>
  typeof value === 'number' ? undefined : ' must be a number';
export const aFlag: Form = (value) =>
  typeof value === 'boolean' ? undefined : ' must be true or false';
/** Any value, `null` included. */
export const present: Form = (value) => (value === undefined ? ' must be given' : undefined);

export function numberWithin(least: number, most: number): Form {
  return (value) =>
    typeof value === 'number' && value >= least && value <= most
      ? undefined
      : ` must be a number from ${least} to ${most}`;
}

export function wholeNumberWithin(least: number, most: number): Form {
  const within = numberWithin(least, most);
  return (value) => within(value) ?? (Number.isInteger(value) ? undefined : ' must be whole');
}

export function oneOf(...known: readonly string[]): Form {
  return (value) =>
    typeof value === 'string' && known.includes(value)
      ? undefined
      : ` must be one of ${known.join(', ')}`;
}

/** A key of the table as it is when a value is checked. */
export function keyOf(table: Readonly<Record<string, unknown>>): Form {
  return (value) =>
    typeof value === 'string' && Object.hasOwn(table, value)
      ? undefined
      : ` must be one of ${Object.keys(table).join(', ')}`;
}

export function optional(form: Form): Form {
  return (value) => (value === undefined ? undefined : form(value));
}

export function listOf(form: Form): Form {
  return (value) => {
    if (!isArray(value)) return ' must be a list';
    for (let index = 0; index < value.length; index += 1) {
      const problem = form(value[index]);
      if (problem !== undefined) return `/${index}${problem}`;
    }
    return undefined;
  };
}

/** A record with these fields; others may be anything. */
export function recordOf(forms: Readonly<Record<string, Form>>): Form {
  const entries = Object.entries(forms);
  return (value) => {
    if (!isRecord(value)) return ' must be an object';
    for (const [key, form] of entries) {
      const problem = form(value[key]);
      if (problem !== undefined) return `/${key}${problem}`;
    }
    return undefined;
  };
}

/** A record whose form depends on its fields. */
export function recordBy(formOf: (fields: Readonly<Record<string, unknown>>) => Form): Form {
  return (value) => (isRecord(value) ? formOf(value)(value) : ' must be an object');
}

export function allOf(...forms: readonly Form[]): Form {
  return (value) => {
    for (const form of forms) {
      const problem = form(value);
      if (problem !== undefined) return problem;
    }
    return undefined;
  };
}

/** Whether the value is nested deeper than `levels`. */
export function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels <= 0) return true;
  for (const item of isArray(value) ? value : values(value))
    if (isDeeperThan(item, levels - 1)) return true;
  return false;
}
