/** Ends model calls that their caller has aborted. */
import type { AbortSignalLike } from '../../protocol/model/model.js';

/** @throws the signal's reason, which says who stopped the call; an `AbortError` if signals have none */
export function throwIfAborted(signal: AbortSignalLike): void {
  if (!signal.aborted) return;
  if (signal instanceof AbortSignal) signal.throwIfAborted();
  throw new DOMException('The model call was aborted', 'AbortError');
}
