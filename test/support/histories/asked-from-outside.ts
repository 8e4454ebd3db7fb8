/** A conversation of a test is queried from outside until the test ends. */
import { expect, onTestFinished } from 'vitest';
import { type Asked, OutsideQueries } from './outside-queries.js';

let begun = 0;

/** @param workflowId It need not exist yet. The test fails when a query says that the run cannot be replayed. */
export function askFromOutside(asked: Asked, workflowId: string): void {
  begun += 1;
  const queries = new OutsideQueries(asked);
  const over = new AbortController();
  const asking = queries.watch(workflowId, { seed: begun, signal: over.signal });
  onTestFinished(async () => {
    over.abort();
    await asking;
    expect(queries.nondeterminism).toEqual([]);
    expect(queries.counts.asked).toBeGreaterThan(0);
  });
}
