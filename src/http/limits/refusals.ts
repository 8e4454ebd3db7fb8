/** Refusals of a caller that has, or sends, too much. */
import { ConversationError } from '../../client/api/errors.js';

/** Milliseconds after which a stream may be tried again; nothing says when one of the open ones ends. */
const STREAM_PAUSE_MS = 5_000;

export function tooMany(rule: string, retryAfterMs: number): ConversationError {
  return new ConversationError('rate_limited', `${rule}; try again after Retry-After`, {
    retryAfterMs,
  });
}

export function tooManyStreams(max: number): ConversationError {
  return tooMany(`A caller may have ${max} streams open at once`, STREAM_PAUSE_MS);
}
