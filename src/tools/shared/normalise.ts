/**
 * Converts any value that a tool returns to JSON, before history has to encode it: one odd value must cost a field,
 * never the call. Runs in the worker.
 */

import { TEXTS } from '../../protocol/failures/texts.js';
import { type Json, utf8Bytes } from '../../protocol/values/json.js';
import { wellFormed } from '../../protocol/values/well-formed.js';

/** Deeper values become a marker: every reader of a result recurses. */
const MAX_DEPTH = 100;
/** Bounds the values of one result; a small graph that shares its nodes can be huge as a tree. */
const MAX_VALUES = 200_000;

/**
 * The value as JSON. `undefined`, functions and symbols are left out (`null` in lists and at the top), numbers that
 * JSON lacks are `null`, dates are ISO 8601, big integers decimal text, binary data base64 text, maps and sets objects
 * and lists, errors their name and message, lone surrogates U+FFFD, cycles `"[circular]"`. The value's own `toJSON` is
 * used.
 * @throws the error of a getter or `toJSON` of the value.
 */
export function toJson(value: unknown): Json {
  return new Normaliser().visit(value, 0) ?? null;
}

class Normaliser {
  readonly #path = new Set<object>();
  #values = 0;

  visit(value: unknown, depth: number): Json | undefined {
    this.#values += 1;
    if (this.#values > MAX_VALUES) return '[omitted: too many values]';
    switch (typeof value) {
      case 'string':
        return wellFormed(value);
      case 'boolean':
        return value;
      case 'number':
        return Number.isFinite(value) ? value : null;
      case 'bigint':
        return value.toString();
      case 'object':
        return value === null ? null : this.#visitObject(value, depth);
      case 'undefined':
      case 'function':
      case 'symbol':
        return undefined;
    }
  }

  #visitObject(value: object, depth: number): Json | undefined {
    if (this.#path.has(value)) return '[circular]';
    if (depth >= MAX_DEPTH) return '[omitted: nested too deeply]';
    const leaf = leafOf(value);
    if (leaf !== undefined) return leaf;
    this.#path.add(value);
    try {
      return this.#visitMembers(value, depth);
    } finally {
      this.#path.delete(value);
    }
  }

  #visitMembers(value: object, depth: number): Json | undefined {
    if ('toJSON' in value && typeof value.toJSON === 'function')
      return this.visit((value as { toJSON(): unknown }).toJSON(), depth + 1);
    if (value instanceof String || value instanceof Number || value instanceof Boolean)
      return this.visit(value.valueOf(), depth + 1);
    if (value instanceof Map) return this.#visitMap(value, depth);
    if (Array.isArray(value) || value instanceof Set)
      return Array.from(value as Iterable<unknown>, (item) => this.visit(item, depth + 1) ?? null);
    return this.#visitEntries(Object.entries(value), depth);
  }

  #visitMap(value: ReadonlyMap<unknown, unknown>, depth: number): Json | undefined {
    const entries = [...value];
    if (entries.every((entry): entry is [string, unknown] => typeof entry[0] === 'string'))
      return this.#visitEntries(entries, depth);
    return this.visit(entries, depth);
  }

  #visitEntries(entries: readonly (readonly [string, unknown])[], depth: number): Json {
    const kept: [string, Json][] = [];
    for (const [key, item] of entries) {
      const json = this.visit(item, depth + 1);
      if (json !== undefined) kept.push([wellFormed(key), json]);
    }
    // Not by assignment: a key named `__proto__` has to stay a key.
    return Object.fromEntries(kept);
  }
}

/** Converts objects that represent one plain value. */
function leafOf(value: object): Json | undefined {
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString();
  if (value instanceof Error) return { name: value.name, message: value.message };
  if (value instanceof URL) return value.href;
  if (ArrayBuffer.isView(value))
    return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64');
  if (value instanceof ArrayBuffer) return Buffer.from(value).toString('base64');
  return undefined;
}

/**
 * The value itself when its JSON text has at most `maxBytes`; else `{truncated: true, text, note}` of that size: `text`
 * is the beginning of the value's text, and `note` says how much there was.
 */
export function boundedJson(value: Json, maxBytes: number): Json {
  if (utf8Bytes(JSON.stringify(value)) <= maxBytes) return value;
  return cutJson(textOfJson(value), maxBytes, TEXTS.truncated);
}

/** The text of a value: a string itself, any other value as JSON. */
export function textOfJson(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** The longest beginning of a text that fits, marked as such; `note` says how much there was. */
export function cutJson(
  text: string,
  maxBytes: number,
  note: (shownBytes: number, totalBytes: number) => string,
): Json {
  const textBytes = utf8Bytes(text);
  const marked = (length: number): Json => {
    const shown = prefixOf(text, length);
    return { truncated: true, text: shown, note: note(utf8Bytes(shown), textBytes) };
  };
  // Escaping makes the text longer by an unknown amount, so the longest prefix that fits is found by bisection.
  let fits = 0;
  let tooLong = Math.min(text.length, maxBytes) + 1;
  while (tooLong - fits > 1) {
    const middle = Math.floor((fits + tooLong) / 2);
    if (utf8Bytes(JSON.stringify(marked(middle))) <= maxBytes) fits = middle;
    else tooLong = middle;
  }
  return marked(fits);
}

/** The first `length` UTF-16 units, less one if that would split a character. */
function prefixOf(text: string, length: number): string {
  const last = text.charCodeAt(length - 1);
  return text.slice(0, last >= 0xd800 && last < 0xdc00 ? length - 1 : length);
}
