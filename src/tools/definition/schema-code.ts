/** The code inside a zod schema, as text: the parts of parsing that no JSON Schema shows. Runs in the worker. */
import { isZodSchema, type Schema } from '../../define/schemas/schema.js';

/** Fields for error messages: parsing does not depend on them. */
const IGNORED: readonly string[] = ['error', 'message', 'abort'];

/**
 * Source texts of every function and regular expression in the schema's definition: transforms, refinements, checks and
 * formats, in the order of their places. Empty for JSON Schema. Values in closures do not show. Never throws.
 */
export function schemaCode(schema: Schema): readonly string[] {
  if (!isZodSchema(schema)) return [];
  const texts: string[] = [];
  collect(schema, texts, new Set());
  return texts;
}

function collect(node: unknown, into: string[], seen: Set<unknown>): void {
  if (node instanceof RegExp) into.push(String(node));
  else if (typeof node === 'function') into.push(String(node));
  else if (Array.isArray(node)) for (const item of node) collect(item, into, seen);
  else if (typeof node === 'object' && node !== null && !seen.has(node)) {
    seen.add(node);
    const def = definitionIn(node);
    if (def !== undefined) collectFields(def, into, seen);
    else if (isPlain(node)) collectFields(node, into, seen);
  }
}

function collectFields(fields: object, into: string[], seen: Set<unknown>): void {
  // A default is a getter that may return another value each time; the JSON Schema shows it.
  const names = Object.keys(fields).filter((name) => !IGNORED.includes(name));
  for (const name of names.filter((it) => it !== 'defaultValue').sort()) {
    const value = (fields as Readonly<Record<string, unknown>>)[name];
    if (name !== 'getter' || typeof value !== 'function') collect(value, into, seen);
    else collect(called(value as () => unknown), into, seen);
  }
}

/** A recursive schema refers to itself by a function. */
function called(getter: () => unknown): unknown {
  try {
    return getter();
  } catch {
    return getter;
  }
}

/** The definition of a zod type, or of one of its checks. */
function definitionIn(node: object): object | undefined {
  const internals = '_zod' in node ? node._zod : undefined;
  if (typeof internals !== 'object' || internals === null || !('def' in internals))
    return undefined;
  return typeof internals.def === 'object' && internals.def !== null ? internals.def : undefined;
}

function isPlain(node: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(node);
  return prototype === null || prototype === Object.prototype;
}
