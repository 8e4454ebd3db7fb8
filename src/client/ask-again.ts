/** Queries that a worker refused because an update was on its way to the conversation (`workflows/query-guard.ts`). */
import { setTimeout as sleep } from 'node:timers/promises';
import { QUERY_REFUSED } from '../protocol/messaging.js';

/** The update has passed long before; each new one in between costs one more try. */
const TRIES = 6;
const FIRST_PAUSE_MS = 10;

/** Asks until the answer is not that refusal; the last one is thrown. A deadline is the caller's to set, around all of it. */
export async function askAgain<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
  for (let tried = 1; ; tried += 1)
    try {
      return await ask();
    } catch (error) {
      if (tried === TRIES || !isRefused(error)) throw error;
      await sleep(FIRST_PAUSE_MS * 2 ** (tried - 1));
    }
}

function isRefused(error: unknown): boolean {
  return error instanceof Error && error.message.includes(QUERY_REFUSED);
}
