/** Whether a tool's input can be given to a model in strict mode, and why not. Runs anywhere. */

import { isStrict, strictSchema } from '../../json-schema/strict.js';
import type { JsonSchema } from '../../protocol/values/json.js';
import { isZodSchema, type Schema } from './schema.js';

export interface Strictness {
  /** The input in the form of strict mode. */
  readonly strictInput?: JsonSchema;
  /** In words for the author: what keeps it from that. */
  readonly notStrict?: string;
}

/** A zod type is converted; JSON Schema goes to the model to the letter, so it is strict only where it is so as it stands. */
export function strictnessOf(input: Schema, inputSchema: JsonSchema): Strictness {
  if (!isZodSchema(input))
    return isStrict(inputSchema)
      ? { strictInput: inputSchema }
      : { notStrict: 'it is JSON Schema that is not in the strict form as it stands' };
  const made = strictSchema(inputSchema);
  return made.ok ? { strictInput: made.schema } : { notStrict: made.problem };
}
