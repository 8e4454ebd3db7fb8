/** Ids of updates as clients mint them. Never change their composition, since repeats are recognised by them. */
import { fingerprint, utf8Bytes } from '../values/json.js';

/** The server refuses longer ids of updates. */
const MAX_BYTES = 1_000;

/**
 * The id of an update. The server shares update ids over update names, and answers a repeat with its first reply, so
 * the id names the operation, its call and type, its actor and the request. Long parts are cut, but never the request
 * id. An id that would still be too long for the server consists of the operation and a fingerprint of the whole.
 */
export function updateIdFor(parts: {
  readonly operation: string;
  readonly requestId: string;
  readonly callId?: string;
  readonly type?: string;
  readonly actor?: string;
}): string {
  const { operation, callId, type, actor, requestId } = parts;
  const whole = [
    operation,
    (callId ?? '').slice(0, 200),
    type ?? '',
    (actor ?? '').slice(0, 200),
    requestId,
  ]
    .map((part) => part.replaceAll('%', '%25').replaceAll(':', '%3A'))
    .join(':');
  return utf8Bytes(whole) <= MAX_BYTES ? whole : `${operation}:${fingerprint(whole)}`;
}
