/**
 * Copies input from outside as plain data where it enters: in the validator and in the handler of an update, because the
 * SDK decodes the input anew for each. All code that judges or records an input reads this copy:
 * so no input, such as one nested beyond any stack or with getters, makes a handler throw, and no recorded value can
 * change afterwards or differ from its JSON.
 */
import { MAX_ANSWER_BYTES, MAX_ANSWER_DEPTH } from '../../protocol/limits/limits.js';
import { isRecord } from '../../protocol/values/json.js';

/** Replaces values that are not JSON or are nested too deep; no field accepts it. */
const UNREADABLE = Symbol('unreadable');

/** Answers are nested below `input.resolution.value`. */
const MAX_INPUT_DEPTH = MAX_ANSWER_DEPTH + 3;

/** More nodes than any answer of the largest size has; stops shared structures, which would unfold without end. */
const MAX_INPUT_NODES = MAX_ANSWER_BYTES;

/** A copy of plain JSON; any other value becomes one that every check refuses. Never throws. */
export function plainInput(input: unknown): unknown {
  try {
    return copyOf(input, MAX_INPUT_DEPTH, { left: MAX_INPUT_NODES });
  } catch {
    return UNREADABLE;
  }
}

interface Budget {
  left: number;
}

function copyOf(value: unknown, depth: number, nodes: Budget): unknown {
  nodes.left -= 1;
  if (nodes.left < 0) return UNREADABLE;
  switch (typeof value) {
    case 'string':
    case 'boolean':
    case 'undefined':
      return value;
    case 'number':
      // JSON has no negative zero.
      return Number.isFinite(value) ? value + 0 : UNREADABLE;
    case 'object':
      if (value === null) return null;
      if (depth <= 0) return UNREADABLE;
      return Array.isArray(value)
        ? copyOfList(value, depth - 1, nodes)
        : copyOfRecord(value, depth - 1, nodes);
    default:
      return UNREADABLE;
  }
}

function copyOfList(list: readonly unknown[], depth: number, nodes: Budget): unknown {
  if (list.length > nodes.left) return UNREADABLE;
  const items: unknown[] = [];
  for (const item of list) items.push(copyOf(item, depth, nodes));
  return items;
}

function copyOfRecord(record: object, depth: number, nodes: Budget): unknown {
  const prototype: unknown = Object.getPrototypeOf(record);
  // Objects of another realm (a sandbox) have that realm's root prototype.
  if (prototype !== null && Object.getPrototypeOf(prototype) !== null) return UNREADABLE;
  const fields: [string, unknown][] = [];
  for (const key of Object.keys(record)) {
    const item = copyOf((record as Readonly<Record<string, unknown>>)[key], depth, nodes);
    if (item !== undefined) fields.push([key, item]);
  }
  // `Object.fromEntries` makes a key of `__proto__`; an assignment would not.
  return Object.fromEntries(fields);
}

/** A record made by `plainInput`: reading it has no effects and cannot fail. */
export type PlainRecord = Readonly<Record<string, unknown>>;

/** The fields of plain input; none where it is not a record. */
export function fieldsOf(input: unknown): PlainRecord {
  return isRecord(input) ? input : {};
}
