/** Queries the conversations of a test from outside. */
import { expect, onTestFinished } from 'vitest';
import { type Asked, OutsideQueries } from './outside-queries.js';

let begun = 0;

/**
 * Queries until the returned function is called, which waits for the last answers. The function throws when a query
 * failed because a run cannot be replayed.
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

/** Queries until the test ends, which then fails when a query failed because a run cannot be replayed. */
export function askFromOutside(asked: Asked, workflowId: string): void {
  onTestFinished(startAsking(asked, [workflowId]));
}
