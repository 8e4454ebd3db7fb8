/** Conversations of a test are queried from outside. */
import { expect, onTestFinished } from 'vitest';
import { type Asked, OutsideQueries } from './outside-queries.js';

let begun = 0;

/**
 * Asks until the returned function is called, which waits for the last answers. It throws when a query said that a run cannot be
 * replayed.
 * @param workflowIds They need not exist yet.
 */
export function startAsking(asked: Asked, workflowIds: readonly string[]): () => Promise<void> {
  const queries = new OutsideQueries(asked);
  const over = new AbortController();
  const asking = workflowIds.map((workflowId) => {
    begun += 1;
    return queries.watch(workflowId, { seed: begun, signal: over.signal });
  });
  return async () => {
    over.abort();
    await Promise.all(asking);
    expect(queries.nondeterminism).toEqual([]);
    expect(queries.counts.asked).toBeGreaterThan(0);
  };
}

/** Until the test ends, which then fails when a query says that the run cannot be replayed. */
export function askFromOutside(asked: Asked, workflowId: string): void {
  onTestFinished(startAsking(asked, [workflowId]));
}
