/**
 * Waits for a condition with a deadline, longer on a machine that is kept busy, and reports the last observed value.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { PATIENCE } from './patience.js';

export async function until<Value>(
  what: string,
  look: () => Value | Promise<Value>,
  options: { readonly holds?: (value: Value) => boolean; readonly timeoutMs?: number } = {},
): Promise<Value> {
  const { holds = Boolean } = options;
  const timeoutMs = (options.timeoutMs ?? 30_000) * PATIENCE;
  const giveUpAt = performance.now() + timeoutMs;
  for (;;) {
    const seen = await look();
    if (holds(seen)) return seen;
    if (performance.now() > giveUpAt)
      throw new Error(`${what}: not within ${timeoutMs} ms; last seen ${JSON.stringify(seen)}`);
    await sleep(5);
  }
}
