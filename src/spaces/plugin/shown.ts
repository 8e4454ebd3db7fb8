/** The form in which a space shows a call: the same from the worker that runs it and from its log. Pure. */
import type { Executor } from '../../protocol/calls/executors.js';
import type { ToolResultEnvelope } from '../../protocol/calls/results.js';
import { MAX_SPACE_METADATA_DEPTH } from '../../protocol/limits/service-limits.js';
import type { Metadata } from '../../protocol/spaces/spaces.js';
import { isBoundedJson, isRecord, type Json, utf8Bytes } from '../../protocol/values/json.js';
import { cutText, wellFormedJson } from '../../protocol/values/well-formed.js';
import { MAX_READ_BYTES, MAX_READ_CHARS, MAX_SHOWN_BYTES, MAX_SHOWN_CHARS } from './limits.js';

/** Names the state of the plugin in logs. */
export const PLUGIN_ID = 'spaces';

export function isVisible({ metadata }: { readonly metadata?: Metadata | undefined }): boolean {
  return metadata?.['visible'] === true;
}

/** The request under which a call is shown, once. Turn ids are unique over all conversations. */
export function showRequestId({
  turnId,
  step,
  toolCallId,
}: {
  readonly turnId: string;
  readonly step: number;
  readonly toolCallId: string;
}): string {
  return `call:${turnId}.${step}:${toolCallId}`;
}

/** `executor` decides who may submit the call's result: see `shownCall`. */
export function shownMetadata({
  toolName,
  toolCallId,
  executor,
  input,
}: {
  readonly toolName: string;
  readonly toolCallId: string;
  readonly executor: Executor;
  readonly input: Json;
}): Metadata {
  return { toolName, toolCallId, executor, input: cut(input) };
}

export function endOf(envelope: ToolResultEnvelope): {
  readonly status: 'complete' | 'error';
  readonly metadata: Metadata;
} {
  return envelope.ok
    ? { status: 'complete', metadata: { output: cut(envelope.result) } }
    : { status: 'error', metadata: { error: cut({ ...envelope.error }) } };
}

/** The value, well-formed, or the beginning of its JSON where it is too large to be shown. */
export function cut(given: Json): Json {
  const value = wellFormedJson(given);
  const json = JSON.stringify(value);
  const bytes = utf8Bytes(json);
  // Metadata has one level above it.
  if (bytes <= MAX_SHOWN_BYTES && isBoundedJson(value, MAX_SPACE_METADATA_DEPTH - 1)) return value;
  return { cut: true, bytes, beginning: cutText(json, MAX_SHOWN_CHARS) };
}

/** A value of the metadata as a model reads it in a history: a long one has less of its beginning than is shown. */
export function readable(shown: Json): Json {
  const json = JSON.stringify(shown);
  const bytes = utf8Bytes(json);
  if (bytes <= MAX_READ_BYTES) return shown;
  const { cut: isCut, bytes: all, beginning } = isRecord(shown) ? shown : {};
  return isCut === true && typeof all === 'number' && typeof beginning === 'string'
    ? { cut: true, bytes: all, beginning: cutText(beginning, MAX_READ_CHARS) }
    : { cut: true, bytes, beginning: cutText(json, MAX_READ_CHARS) };
}
