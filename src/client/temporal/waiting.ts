/** Waits by polling with a growing pause, one deadline, and an abort signal. */
import { setTimeout as sleep } from 'node:timers/promises';

const FIRST_PAUSE_MS = 250;
const LAST_PAUSE_MS = 2_000;
/** Milliseconds that one poll may take at most, so that an abort is noticed. */
const LONGEST_ASK_MS = 10_000;

export interface Patience {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** Polls until there is an answer; undefined when the time is up or the signal aborts. Polls at least once. */
export async function repeatUntil<Value>(
  patience: Patience,
  ask: (remainingMs: number) => Promise<Value | undefined>,
): Promise<Value | undefined> {
  const { signal } = patience;
  const deadline = Date.now() + patience.timeoutMs;
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, LAST_PAUSE_MS)) {
    const remaining = deadline - Date.now();
    const value = await ask(Math.min(Math.max(remaining, 1), LONGEST_ASK_MS));
    if (value !== undefined) return value;
    if (signal?.aborted === true || Date.now() >= deadline) return undefined;
    await pauseFor(Math.min(pause, deadline - Date.now()), signal);
  }
}

/** Sleeps, or returns early when the signal aborts. */
export async function pauseFor(milliseconds: number, signal?: AbortSignal): Promise<void> {
  if (milliseconds <= 0 || signal?.aborted === true) return;
  await sleep(milliseconds, undefined, signal === undefined ? {} : { signal }).catch(
    () => undefined,
  );
}

/** The value, or undefined when it does not arrive in time; a later rejection is ignored. */
export async function within<Value>(
  milliseconds: number,
  value: Promise<Value>,
): Promise<Value | undefined> {
  return await orLate(milliseconds, value, () => undefined);
}

/**
 * The value, or the result of `late` when it does not arrive in time; a later rejection is ignored. Uses a plain timer:
 * with a sleep that is aborted, every call that is answered in time makes an unneeded error with its stack.
 */
export async function orLate<Value, Late>(
  milliseconds: number,
  value: Promise<Value>,
  late: () => Late,
): Promise<Value | Late> {
  value.catch(() => undefined);
  let timer: NodeJS.Timeout | undefined;
  const time = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, milliseconds);
  });
  try {
    return await Promise.race([value, time.then(late)]);
  } finally {
    clearTimeout(timer);
  }
}
