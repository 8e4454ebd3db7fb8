/** Strictness: whether a tool's input can be given to a model in strict mode, and why not. Runs anywhere. */

import { isStrict, strictSchema } from '../../json-schema/strict.js';
import type { JsonSchema } from '../../protocol/values/json.js';
import { isZodSchema, type Schema } from './schema.js';

export interface Strictness {
  /** The input in strict form. */
  readonly strictInput?: JsonSchema;
  /** The reason, in words for the author, why there is no strict form. */
  readonly notStrict?: string;
}

/**
 * The strict form of an input. A zod type is converted; JSON Schema goes to the model verbatim, so it is strict only
 * where it has the strict form already.
 */
export function strictnessOf(input: Schema, inputSchema: JsonSchema): Strictness {
  if (!isZodSchema(input))
    return isStrict(inputSchema)
      ? { strictInput: inputSchema }
      : { notStrict: 'its JSON Schema is not in the strict form' };
  const made = strictSchema(inputSchema);
  return made.ok ? { strictInput: made.schema } : { notStrict: made.problem };
}
