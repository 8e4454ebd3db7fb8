/**
 * Repeats queries that a worker refused because a task of the conversation was under way
 * (`worker/sdk-workarounds/query-guard.ts`).
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { QUERY_REFUSED_MARK } from '../../protocol/workflow/query-refusal.js';

/** Far more than fit into the deadline of any caller. */
const TRIES = 100;
const FIRST_PAUSE_MS = 10;
const LAST_PAUSE_MS = 200;

/**
 * Queries until the answer is not that refusal. The caller sets a deadline around all tries: a query that arrived with
 * its task is answered, and the task runs as soon as a worker is free.
 */
export async function retryQuery<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
  for (let tried = 1; ; tried += 1)
    try {
      return await ask();
    } catch (error) {
      if (tried === TRIES || !isQueryRefused(error)) throw error;
      await sleep(Math.min(FIRST_PAUSE_MS * 2 ** (tried - 1), LAST_PAUSE_MS));
    }
}

/** True for an error of a query that only has to be repeated; workers of other versions may word it differently. */
export function isQueryRefused(error: unknown): boolean {
  return error instanceof Error && error.message.includes(QUERY_REFUSED_MARK);
}
