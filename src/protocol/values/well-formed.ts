/**
 * Text that can be written as UTF-8. A JavaScript string, and JSON with escapes, may hold one half of a surrogate pair,
 * which UTF-8 cannot express: databases replace it, and providers refuse every request that holds it. The engine
 * therefore refuses such input of callers, naming the field, and replaces the half by U+FFFD in the output of models
 * and tools. Runs anywhere.
 * @see https://tc39.es/ecma262/#sec-isstringwellformedunicode
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

/** The first `length` UTF-16 units, well-formed; one fewer where the cut would fall inside a pair. */
export function cutText(text: string, length: number): string {
  return wellFormed(text.slice(0, length).replace(/[\ud800-\udbff]$/, ''));
}

/**
 * The first text of a value, or key of an object, that is not well-formed, under its JSON Pointer; empty when all are.
 * Takes values of any depth, circular ones included, and never throws on plain data.
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
    // Reversed, since the last item pushed is checked first.
    for (const [key, item] of Object.entries(next.value).reverse()) {
      const at = `${path}/${pointerPart(key)}`;
      if (LONE.test(key)) return [{ path: wellFormed(at), message: NOT_WELL_FORMED }];
      left.push({ value: item, path: at });
    }
  }
  return [];
}

/** A copy of JSON in which every text and key is well-formed; the same value where all are already. */
export function wellFormedJson<Value>(value: Value): Value {
  return textProblems(value).length === 0 ? value : (mended(value) as Value);
}

function mended(value: unknown): unknown {
  if (typeof value === 'string') return wellFormed(value);
  if (Array.isArray(value)) return value.map((item) => mended(item));
  if (typeof value !== 'object' || value === null) return value;
  // Unlike an assignment, `fromEntries` makes an own key of `__proto__`.
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [wellFormed(key), mended(item)]),
  );
}

function pointerPart(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}

/** A JSON Pointer as definitions name their fields: `/timeouts/run` is `timeouts.run`. */
export function dottedPath(pointer: string): string {
  return pointer.slice(1).replaceAll('/', '.').replaceAll('~1', '/').replaceAll('~0', '~');
}
