/** Metadata of tools: validated and copied, and read by no code of the engine. Runs anywhere. */
import { MAX_ANSWER_DEPTH } from '../../protocol/limits/limits.js';
import { MAX_TOOL_METADATA_BYTES } from '../../protocol/limits/service-limits.js';
import { canonicalJson, isBoundedJson, isRecord, utf8Bytes } from '../../protocol/values/json.js';
import { type ProblemList, shown } from '../checks/problems.js';
import type { ToolMetadata } from '../tool/spec.js';
import type { AnyTool } from '../tool/types.js';

/** Adds every fault of the field `metadata`. */
export function checkMetadata(metadata: unknown, problems: ProblemList): void {
  if (metadata === undefined) return;
  if (!isRecord(metadata) || Array.isArray(metadata))
    problems.add('metadata', `must be an object such as {visible: true}, got ${shown(metadata)}`);
  else if (!isBoundedJson(metadata, MAX_ANSWER_DEPTH) || !isPlainJson(metadata))
    problems.add('metadata', `must be JSON, nested at most ${MAX_ANSWER_DEPTH} deep`);
  else if (utf8Bytes(JSON.stringify(metadata)) > MAX_TOOL_METADATA_BYTES)
    problems.add('metadata', `must be at most ${MAX_TOOL_METADATA_BYTES} bytes of JSON`);
}

/** A copy, so that later changes by the author change no definition. Validated by `checkMetadata` before. */
export function metadataOf(metadata: unknown): Pick<AnyTool, 'metadata'> {
  if (metadata === undefined) return {};
  return { metadata: JSON.parse(JSON.stringify(metadata)) as ToolMetadata };
}

/** Whether a value stays the same through JSON, which dates and the like do not. */
export function isPlainJson(value: unknown): boolean {
  return canonicalJson(JSON.parse(JSON.stringify(value))) === canonicalJson(value);
}
