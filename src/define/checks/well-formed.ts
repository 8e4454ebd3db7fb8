/** Texts of definitions: each can be written as UTF-8, which prompts, events and logs need. Runs anywhere. */
import { dottedPath, textProblems } from '../../protocol/values/well-formed.js';
import type { ProblemList, Untyped } from './problems.js';

/**
 * Reports the first text, or key, of each field of a definition that holds half of a surrogate pair. `except`: fields
 * with checks of their own, and those that hold code or definitions.
 */
export function checkWellFormed(
  problems: ProblemList,
  spec: Untyped,
  except: readonly string[] = [],
): void {
  for (const [field, value] of Object.entries(spec)) {
    if (except.includes(field)) continue;
    const [found] = textProblems(dataOf(value, new Set()));
    if (found !== undefined) problems.add(dottedPath(`/${field}${found.path}`), found.message);
  }
}

/** The lists, plain objects and texts of a value: other objects, such as schemas, are not read. */
function dataOf(value: unknown, above: ReadonlySet<unknown>): unknown {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null || above.has(value)) return undefined;
  const within = new Set([...above, value]);
  if (Array.isArray(value)) return value.map((item) => dataOf(item, within));
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== null && prototype !== Object.prototype) return undefined;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, dataOf(item, within)]),
  );
}
