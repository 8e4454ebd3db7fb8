/**
 * Digests of tool definitions. A plan pins them, so that a worker with other code detects that a call was planned by
 * another definition. Equal digests mean that nothing has to be parsed again; different ones only mean that it has to
 * be: a digest may differ although the definition does the same (another minifier, another version of zod). Runs in the
 * worker.
 */
import { createHash } from 'node:crypto';
import { inputJsonSchema, type Schema } from '../../define/schemas/schema.js';
import type { AnyTool } from '../../define/tool/types.js';
import { waitsOutside } from '../../protocol/calls/executors.js';
import { canonicalJson, isRecord, type JsonSchema } from '../../protocol/values/json.js';
import { schemaCode } from './schema-code.js';

export interface DefinitionDigests {
  /** `sha256:` over executor, input schema, the code inside that schema and the author's `version`. */
  readonly definition: string;
  /** The same over executor and schema of the answer. Present for tools whose result comes from outside. */
  readonly answerDefinition?: string;
}

/** Tools are frozen, so each is digested once. */
const known = new WeakMap<AnyTool, DefinitionDigests>();

/** The digests of a tool in this worker. Never throws. */
export function definitionOf(tool: AnyTool): DefinitionDigests {
  const before = known.get(tool);
  if (before !== undefined) return before;
  const { executor, input, inputSchema, output, version = null } = tool;
  const shape = [executor, stable(input, inputSchema), schemaCode(input), version];
  const digests: DefinitionDigests = {
    definition: sha256(shape),
    ...(waitsOutside(executor)
      ? { answerDefinition: sha256([executor, ...answerShape(output)]) }
      : {}),
  };
  known.set(tool, digests);
  return digests;
}

function answerShape(output: Schema | undefined): readonly unknown[] {
  if (output === undefined) return [null];
  return [stable(output, inputJsonSchema(output).jsonSchema), schemaCode(output)];
}

/** The schema document, without defaults if these differ each time: a clock's, or random ones. */
function stable(schema: Schema, document: JsonSchema): unknown {
  const again = inputJsonSchema(schema).jsonSchema;
  return canonicalJson(again) === canonicalJson(document) ? document : withoutDefaults(document);
}

function withoutDefaults(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(withoutDefaults);
  if (!isRecord(node)) return node;
  const kept = Object.entries(node).filter(([key]) => key !== 'default');
  return Object.fromEntries(kept.map(([key, value]) => [key, withoutDefaults(value)]));
}

function sha256(value: unknown): string {
  return `sha256:${createHash('sha256').update(canonicalJson(value)).digest('hex')}`;
}
