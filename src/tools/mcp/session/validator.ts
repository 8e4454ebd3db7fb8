/**
 * Validates a server's structured results against the schema of the same server. Bounded and without regular
 * expressions: neither side is trusted, and either could block the worker. Runs in the worker.
 */
import type { jsonSchemaValidator } from '@modelcontextprotocol/client';
import { relaxedSchema } from '../../../json-schema/relaxed.js';
import type { JsonSchema } from '../../../protocol/values/json.js';
import { problemText, validateJson } from '../../shared/validate.js';

/** In the form that the client expects. */
export const checkedByUs: jsonSchemaValidator = {
  getValidator: (schema) => {
    const relaxed = { jsonSchema: relaxedSchema(schema as JsonSchema) };
    return (input) => {
      const checked = validateJson(relaxed, input);
      return checked.ok
        ? { valid: true, data: input as never, errorMessage: undefined }
        : { valid: false, data: undefined, errorMessage: problemText(checked.problems) };
    };
  },
};
