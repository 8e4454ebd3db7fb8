/**
 * Bounds a model's answer: it is the result of one activity, and is sent to the model again at every later call. Runs
 * in the worker.
 */

import { TEXTS } from '../../protocol/failures/texts.js';
import { MAX_MODEL_ANSWER_BYTES } from '../../protocol/limits/service-limits.js';
import { utf8Bytes } from '../../protocol/values/json.js';
import type { CallModelResult, InlineRead } from '../../protocol/workflow/activities.js';

/** Why an answer is too large, or undefined. Text, calls and files count together. */
export function answerTooLarge(answer: CallModelResult): string | undefined {
  const bytes = answerBytes(answer);
  return bytes > MAX_MODEL_ANSWER_BYTES
    ? TEXTS.answerTooLarge(bytes, MAX_MODEL_ANSWER_BYTES)
    : undefined;
}

/** Bytes of the answer as the result of an activity. */
function answerBytes(answer: CallModelResult): number {
  return utf8Bytes(JSON.stringify(answer));
}

/**
 * Adds the results of reads to the answer, by the index of their call, in call order, as far as they fit. A result that
 * does not fit is left out: its call runs as an activity.
 */
export function withReads(
  answer: CallModelResult,
  reads: ReadonlyMap<number, InlineRead>,
): CallModelResult {
  if (reads.size === 0) return answer;
  let left = MAX_MODEL_ANSWER_BYTES - answerBytes(answer);
  const calls = answer.calls.map((call, index) => {
    const read = reads.get(index);
    if (read === undefined) return call;
    const bytes = utf8Bytes(JSON.stringify({ read }));
    if (bytes > left) return call;
    left -= bytes;
    return { ...call, read };
  });
  return { ...answer, calls };
}

/** The partial output of a stopped answer: its beginning, if there is too much of it. */
export function partsWithin(parts: CallModelResult['parts']): CallModelResult['parts'] {
  // Escaping makes texts up to six times longer.
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
