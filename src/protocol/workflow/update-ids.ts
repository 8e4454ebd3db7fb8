/** Ids of updates as clients mint them: never change what one consists of, for a repeat is known by it. */

/**
 * Update ids are shared over update names by the server, and repeat their first answer: so they name the operation, what
 * it is about, by whom, and the request. What is long is cut, but never the request id.
 */
export function updateIdFor(parts: {
  readonly operation: string;
  readonly requestId: string;
  readonly callId?: string;
  readonly type?: string;
  readonly actor?: string;
}): string {
  const { operation, callId, type, actor, requestId } = parts;
  return [
    operation,
    (callId ?? '').slice(0, 200),
    type ?? '',
    (actor ?? '').slice(0, 200),
    requestId,
  ]
    .map((part) => part.replaceAll('%', '%25').replaceAll(':', '%3A'))
    .join(':');
}
