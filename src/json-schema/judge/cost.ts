/**
 * Measures a JSON Schema with its references expanded: with references a small schema can represent an immense one.
 * Pure; runs anywhere.
 */
import { isRecord, type JsonSchema } from '../../protocol/values/json.js';
import { referred } from './run.js';

/** Keywords that hold values, not schemas: a `$ref` in them is data. */
export const DATA_KEYWORDS: readonly string[] = ['const', 'enum', 'default', 'examples'];

/**
 * Number of objects in the schema with each reference replaced by its target. A schema that refers to itself counts
 * once, because the answer bounds its repetitions (`schemaProblems`). Infinity when the schema is nested too deeply to
 * walk.
 */
export function expandedSize(root: JsonSchema): number {
  const sizes = new Map<unknown, number>();
  const sizeOf = (node: unknown): number => {
    if (Array.isArray(node))
      return node.reduce((sum: number, item: unknown) => sum + sizeOf(item), 0);
    if (!isRecord(node)) return 0;
    const known = sizes.get(node);
    if (known !== undefined) return known;
    // While a node is being measured, a reference back to it is a repetition.
    sizes.set(node, 1);
    const { $ref } = node;
    let size = 1 + (typeof $ref === 'string' ? sizeOf(referred(root, $ref)) : 0);
    for (const [key, value] of Object.entries(node))
      if (!DATA_KEYWORDS.includes(key)) size += sizeOf(value);
    sizes.set(node, size);
    return size;
  };
  try {
    return sizeOf(root);
  } catch {
    // A schema that is too deep to walk is too deep to check values by.
    return Number.POSITIVE_INFINITY;
  }
}
