/** How large a JSON Schema is once it is written out: references let a small one stand for an immense one. Pure; runs anywhere. */
import { isRecord, type JsonSchema } from '../../protocol/values/json.js';
import { referred } from './run.js';

/** Values, not schemas: a `$ref` in them is data. */
export const DATA_KEYWORDS: readonly string[] = ['const', 'enum', 'default', 'examples'];

/**
 * Objects in the schema once each reference is replaced by what it points to; what refers to itself counts once, for its
 * repetitions are bounded by the answer (`schemaProblems`). Infinity when it cannot be walked.
 */
export function expandedSize(root: JsonSchema): number {
  const sizes = new Map<unknown, number>();
  const sizeOf = (node: unknown): number => {
    if (Array.isArray(node))
      return node.reduce((sum: number, item: unknown) => sum + sizeOf(item), 0);
    if (!isRecord(node)) return 0;
    const known = sizes.get(node);
    if (known !== undefined) return known;
    // While it is under way, a reference back to it is a repetition.
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
    // Too deep to walk is too deep to check by.
    return Number.POSITIVE_INFINITY;
  }
}
