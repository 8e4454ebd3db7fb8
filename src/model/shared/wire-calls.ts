/** Calls of earlier steps as providers take them back. Pure. */

import { MAX_WIRE_NAME_CHARS } from '../../protocol/limits/service-limits.js';
import { isRecord } from '../../protocol/values/json.js';
import { toWireName } from '../../protocol/values/tool-names.js';
import { textProblems, wellFormedJson } from '../../protocol/values/well-formed.js';

/** The model may have asked for a tool by an impossible name; sent back as it is, every later request would be refused. */
export function sendableName(name: string): string {
  const wire = toWireName(name).replaceAll(/[^\w-]/g, '_');
  return wire === '' ? 'unknown' : wire.slice(0, MAX_WIRE_NAME_CHARS);
}

/**
 * Arguments go back to the letter, so that prompt caches hit. Except when they are no JSON object: servers that parse them
 * for their chat template would refuse every later request of the conversation.
 */
export function sendableArguments(argumentsJson: string): string {
  try {
    const parsed: unknown = JSON.parse(argumentsJson);
    // A provider refuses a request with half of a surrogate pair, and would so for the rest of the conversation.
    if (isRecord(parsed))
      return textProblems(parsed).length === 0
        ? argumentsJson
        : JSON.stringify(wellFormedJson(parsed));
  } catch {
    // Wrapped below.
  }
  return JSON.stringify({ invalid_arguments: argumentsJson });
}

/** A tool without parameters is called with nothing by some models. What a limit cut is left as it came: the model is told. */
export function argumentsAsked(argumentsJson: string, isCut: boolean): string {
  return argumentsJson.trim() === '' && !isCut ? '{}' : argumentsJson;
}
