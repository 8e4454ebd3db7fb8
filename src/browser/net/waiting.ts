/** The times of a page's requests, and the events after which it tries again at once. */

/** Milliseconds. */
export interface Timing {
  /** Least and longest pause before the next try; `Retry-After` adds to it. @defaultValue 500 and 30,000 */
  readonly minPauseMs: number;
  readonly maxPauseMs: number;
  /**
   * A stream without a byte for so long is lost: the API sends one every 15 s. So is an answer; a request with a body has
   * 1 s more for each 32 kB that go up. @defaultValue 40,000
   */
  readonly silenceMs: number;
  /** A request that changes something is given up after so long without an answer. @defaultValue 60,000 */
  readonly giveUpMs: number;
}

export const TIMING: Timing = {
  minPauseMs: 500,
  maxPauseMs: 30_000,
  silenceMs: 40_000,
  giveUpMs: 60_000,
};

/** Calls back when the network is back or the page is shown again, where there is a page. Returns how to stop. */
export function onWake(listener: () => void): () => void {
  const shown = (): void => {
    if (document.visibilityState === 'visible') listener();
  };
  const hasPage = typeof document !== 'undefined';
  const hasEvents = typeof globalThis.addEventListener === 'function';
  if (hasPage) document.addEventListener('visibilitychange', shown);
  if (hasEvents) globalThis.addEventListener('online', listener);
  return () => {
    if (hasPage) document.removeEventListener('visibilitychange', shown);
    if (hasEvents) globalThis.removeEventListener('online', listener);
  };
}

/** An id that no other page makes. `randomUUID` exists only on pages served by TLS. */
export function newId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
