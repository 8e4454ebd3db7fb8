/** JSON values as they cross every boundary, and pure operations on them. Runs anywhere. */

export type Json =
  | string
  | number
  | boolean
  | null
  | readonly Json[]
  | { readonly [key: string]: Json | undefined };

/** The type of a value after JSON; `Json` where its type is unknown. */
export type JsonOf<Value> = unknown extends Value
  ? Json
  : Value extends string | number | boolean | null
    ? Value
    : Value extends { toJSON(): infer Shown }
      ? JsonOf<Shown>
      : Value extends bigint
        ? string
        : Value extends undefined
          ? null
          : Value extends readonly (infer Item)[]
            ? readonly JsonOf<Item>[]
            : Value extends object
              ? { readonly [Key in keyof Value]: JsonField<Value[Key]> }
              : Json;

type JsonField<Value> = undefined extends Value
  ? JsonOf<Exclude<Value, undefined>> | undefined
  : JsonOf<Value>;

/** A JSON Schema document. The engine interprets no more of it than its validators do. */
export type JsonSchema = { readonly [key: string]: Json | undefined };

/**
 * Constants, since reading a global costs the sandbox a hundred times as much, and these are read for every character
 * or value.
 */
const { isArray } = Array;
const { keys } = Object;
const { stringify } = JSON;
const { imul } = Math;

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !isArray(value);
}

/** Number of bytes of a string in UTF-8. Counted by hand: the sandbox types have no TextEncoder. */
export function utf8Bytes(text: string): number {
  let bytes = 0;
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    if (unit < 0x80) bytes += 1;
    else if (unit < 0x800) bytes += 2;
    else if (isPair(unit, text.charCodeAt(index + 1))) {
      bytes += 4;
      index += 1;
    } else bytes += 3;
  }
  return bytes;
}

/** Whether two units are a surrogate pair. A surrogate without its partner is encoded as the three bytes of U+FFFD. */
function isPair(unit: number, next: number): boolean {
  return unit >= 0xd800 && unit < 0xdc00 && next >= 0xdc00 && next < 0xe000;
}

/** JSON text with sorted keys: equal values give equal text, in whichever order their keys were set. */
export function canonicalJson(value: unknown): string {
  if (isArray(value)) return `[${value.map((item) => canonicalJson(item)).join(',')}]`;
  if (isRecord(value)) {
    const parts: string[] = [];
    for (const key of keys(value).sort()) {
      const item = value[key];
      if (item !== undefined) parts.push(`${stringify(key)}:${canonicalJson(item)}`);
    }
    return `{${parts.join(',')}}`;
  }
  // JSON.stringify returns undefined for these, although its type says string.
  if (value === undefined || typeof value === 'function' || typeof value === 'symbol')
    return 'null';
  return stringify(value);
}

/**
 * A short, stable fingerprint of a text (53 bits, base 36). Distinguishes repeats; unfit for security, since the
 * sandbox has no cryptography.
 */
export function fingerprint(text: string): string {
  let high = 0xdeadbeef;
  let low = 0x41c6ce57;
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    high = imul(high ^ unit, 2654435761);
    low = imul(low ^ unit, 1597334677);
  }
  high = imul(high ^ (high >>> 16), 2246822507) ^ imul(low ^ (low >>> 13), 3266489909);
  low = imul(low ^ (low >>> 16), 2246822507) ^ imul(high ^ (high >>> 13), 3266489909);
  return (4294967296 * (2097151 & low) + (high >>> 0)).toString(36);
}

/** Whether the value is plain JSON no deeper than `maxDepth`. False for cycles and functions. */
export function isBoundedJson(value: unknown, maxDepth: number): value is Json {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return true;
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object' || maxDepth <= 0) return false;
  if (isArray(value)) return value.every((item) => isBoundedJson(item, maxDepth - 1));
  return Object.values(value).every(
    (item) => item === undefined || isBoundedJson(item, maxDepth - 1),
  );
}
