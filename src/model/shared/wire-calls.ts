/** Prepares calls of earlier steps for the provider. Pure. */

import { MAX_WIRE_NAME_CHARS } from '../../protocol/limits/service-limits.js';
import { isRecord } from '../../protocol/values/json.js';
import { toWireName } from '../../protocol/values/tool-names.js';
import { textProblems, wellFormedJson } from '../../protocol/values/well-formed.js';

/**
 * The model may have requested a tool by an invalid name; sent back unchanged, every later request would be rejected.
 */
export function sendableName(name: string): string {
  const wire = toWireName(name).replaceAll(/[^\w-]/g, '_');
  return wire === '' ? 'unknown' : wire.slice(0, MAX_WIRE_NAME_CHARS);
}

/**
 * Arguments go back unchanged, so that prompt caches hit. Only arguments that are not a JSON object are wrapped:
 * servers that parse them for their chat template would reject every later request of the conversation.
 */
export function sendableArguments(argumentsJson: string): string {
  try {
    const parsed: unknown = JSON.parse(argumentsJson);
    // A provider rejects a request with half of a surrogate pair, for the rest of the conversation.
    if (isRecord(parsed))
      return textProblems(parsed).length === 0
        ? argumentsJson
        : JSON.stringify(wellFormedJson(parsed));
  } catch {
    // Wrapped below.
  }
  return JSON.stringify({ invalid_arguments: argumentsJson });
}

/**
 * Some models call a tool without parameters with an empty text. Arguments that a limit cut off stay unchanged: the
 * engine reports them to the model.
 */
export function argumentsAsked(argumentsJson: string, isCut: boolean): string {
  return argumentsJson.trim() === '' && !isCut ? '{}' : argumentsJson;
}

/** Some servers send arguments as an object, or none at all. */
export function argumentsText(value: unknown): string {
  if (typeof value === 'string') return value;
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : '';
}
