/**
 * Text that can be written as UTF-8. A JavaScript string, and JSON with escapes, may hold one half of a surrogate pair, which no UTF-8 can:
 * databases replace it, providers refuse the request that holds it, for good. So callers are refused by field, and what models and tools made
 * has U+FFFD in its place. Runs anywhere. @see https://tc39.es/ecma262/#sec-isstringwellformedunicode
 */
import type { FieldProblem } from './field-problem.js';

/** With the flag `u` a pair is one character, so only halves without a partner match. */
const LONE = /\p{Surrogate}/u;
const ALL_LONE = /\p{Surrogate}/gu;

export const NOT_WELL_FORMED =
  'must be well-formed Unicode text: it holds one half of a surrogate pair';

/** The text with U+FFFD in the place of every lone surrogate. */
export function wellFormed(text: string): string {
  return LONE.test(text) ? text.replace(ALL_LONE, '\ufffd') : text;
}

/** The first `length` UTF-16 units, fewer where that would cut a pair in two, and well-formed. */
export function cutText(text: string, length: number): string {
  return wellFormed(text.slice(0, length).replace(/[\ud800-\udbff]$/, ''));
}

/**
 * The first text of a value, or key of an object, that is not well-formed, under its JSON Pointer; none when all are. Takes anything, however
 * deep or circular, and never throws on plain data.
 */
export function textProblems(value: unknown): readonly FieldProblem[] {
  const seen = new Set<object>();
  const left: { readonly value: unknown; readonly path: string }[] = [{ value, path: '' }];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const { path } = next;
    if (typeof next.value === 'string' && LONE.test(next.value))
      return [{ path, message: NOT_WELL_FORMED }];
    if (typeof next.value !== 'object' || next.value === null || seen.has(next.value)) continue;
    seen.add(next.value);
    // Last first, so that the first is looked at first.
    for (const [key, item] of Object.entries(next.value).reverse()) {
      const at = `${path}/${pointerPart(key)}`;
      if (LONE.test(key)) return [{ path: wellFormed(at), message: NOT_WELL_FORMED }];
      left.push({ value: item, path: at });
    }
  }
  return [];
}

/** A copy of JSON in which every text and key is well-formed; the value itself where all are. */
export function wellFormedJson<Value>(value: Value): Value {
  return textProblems(value).length === 0 ? value : (mended(value) as Value);
}

function mended(value: unknown): unknown {
  if (typeof value === 'string') return wellFormed(value);
  if (Array.isArray(value)) return value.map((item) => mended(item));
  if (typeof value !== 'object' || value === null) return value;
  // Unlike an assignment, this makes a key of `__proto__`.
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [wellFormed(key), mended(item)]),
  );
}

function pointerPart(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}
