/** Runs code of a tool with two limits: its own timeout, and the signal of the caller. Runs in the worker. */
import type { ToolSignal } from '../../define/tool/context.js';
import { TEXTS } from '../../protocol/failures/texts.js';

export type TimedEnd =
  | { readonly end: 'returned'; readonly value: unknown }
  | { readonly end: 'threw'; readonly error: unknown }
  /** Its time is over, even when the code ignores its signal and continues. */
  | { readonly end: 'timeout' };

/** @throws the reason of `signal` once that fires; the code's own signal has fired by then. */
export async function timed(
  limits: { readonly signal: AbortSignal; readonly timeoutMs: number },
  code: (signal: ToolSignal) => unknown,
): Promise<TimedEnd> {
  const { signal, timeoutMs } = limits;
  signal.throwIfAborted();
  const stop = new AbortController();
  const clock = startClocks(signal, stop, timeoutMs);
  try {
    // In a promise of its own, so that code that throws synchronously is handled alike.
    const work = Promise.resolve().then(() => code(stop.signal));
    // The code may continue after the timeout; its later rejection must not end the process.
    work.catch(() => undefined);
    const value = await Promise.race([work, clock.ended]);
    // An abort makes most code throw or return at once, so the limits are checked first.
    signal.throwIfAborted();
    return clock.isOver() ? { end: 'timeout' } : { end: 'returned', value };
  } catch (error) {
    signal.throwIfAborted();
    return clock.isOver() ? { end: 'timeout' } : { end: 'threw', error };
  } finally {
    clock.stop();
  }
}

/** Combines both limits in one signal; `ended` settles when either is reached and never rejects. */
function startClocks(
  outer: AbortSignal,
  stop: AbortController,
  timeoutMs: number,
): { readonly ended: Promise<void>; isOver(): boolean; stop(): void } {
  let over = false;
  let end: () => void = () => undefined;
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const timer = setTimeout(() => {
    over = true;
    stop.abort(new DOMException(TEXTS.timeout(timeoutMs), 'TimeoutError'));
    end();
  }, timeoutMs);
  const onOuter = (): void => {
    stop.abort(outer.reason);
    end();
  };
  outer.addEventListener('abort', onOuter, { once: true });
  return {
    ended,
    isOver: () => over,
    stop: () => {
      clearTimeout(timer);
      outer.removeEventListener('abort', onOuter);
    },
  };
}
