/**
 * Waits for a condition with a deadline, longer on a machine that is kept busy, and reports the last observed value.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { PATIENCE } from './patience.js';

const SHORTEST_PAUSE_MS = 5;
/** The longest sleep that tests may have. */
const LONGEST_PAUSE_MS = 50;

export async function until<Value>(
  what: string,
  look: () => Value | Promise<Value>,
  options: { readonly holds?: (value: Value) => boolean; readonly timeoutMs?: number } = {},
): Promise<Value> {
  const { holds = Boolean } = options;
  const timeoutMs = (options.timeoutMs ?? 30_000) * PATIENCE;
  const begunAt = performance.now();
  const giveUpAt = begunAt + timeoutMs;
  for (;;) {
    const seen = await look();
    if (holds(seen)) return seen;
    if (performance.now() > giveUpAt)
      throw new Error(`${what}: not within ${timeoutMs} ms; last seen ${JSON.stringify(seen)}`);
    // A look often takes a query of a workflow: without longer pauses, a wait of seconds would keep a core busy.
    const pause = (performance.now() - begunAt) / 10;
    await sleep(Math.min(Math.max(pause, SHORTEST_PAUSE_MS), LONGEST_PAUSE_MS));
  }
}
