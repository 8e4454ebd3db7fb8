/** The bound of a model's answer: it is the result of one activity, and is sent to the model again at every later call. Runs in the worker. */
import type { CallModelResult } from '../protocol/activities.js';
import { utf8Bytes } from '../protocol/json.js';
import { MAX_MODEL_ANSWER_BYTES } from '../protocol/limits.js';
import { TEXTS } from '../protocol/texts.js';

/** Why an answer cannot be taken, or undefined. What it says, asks and shows counts together. */
export function answerTooLarge(answer: CallModelResult): string | undefined {
  const bytes = utf8Bytes(JSON.stringify(answer));
  return bytes > MAX_MODEL_ANSWER_BYTES
    ? TEXTS.answerTooLarge(bytes, MAX_MODEL_ANSWER_BYTES)
    : undefined;
}

/** What had been said of an answer that was stopped: its beginning, where there is too much of it. */
export function partsWithin(parts: CallModelResult['parts']): CallModelResult['parts'] {
  // Escapes make texts up to six times longer.
  let left = MAX_MODEL_ANSWER_BYTES / 6;
  const kept: CallModelResult['parts'][number][] = [];
  if (utf8Bytes(JSON.stringify(parts)) <= MAX_MODEL_ANSWER_BYTES) return parts;
  for (const part of parts) {
    if (part.type === 'provider_item' || left <= 0) continue;
    const text = part.text.slice(0, left);
    left -= text.length;
    kept.push({ ...part, text });
  }
  return kept;
}
