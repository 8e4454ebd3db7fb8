/** Workers that keep another event log than this process: what they store, it cannot read. Needs nothing shared but Temporal. */
import type { Client } from '@temporalio/client';
import { storeIdIn } from './identity.js';
import { recentPollers } from './worker-hint.js';

export interface WorkerElsewhere {
  readonly identity: string;
  readonly storeId: string;
  /** ISO 8601; when it polled last. */
  readonly lastSeen: string;
}

/**
 * Workers of a task queue, seen within a little more than a minute, whose store is not this one. Those that do not tell theirs are left out:
 * of other languages, of older builds, and with an identity of their own. @throws what the server answers, or that it did not within a second
 */
export async function workersElsewhere(
  temporal: Client,
  { taskQueue, storeId }: { readonly taskQueue: string; readonly storeId: string },
): Promise<readonly WorkerElsewhere[]> {
  const pollers = await recentPollers(temporal, taskQueue);
  return pollers.flatMap(({ identity, lastSeenMs }) => {
    const theirs = storeIdIn(identity);
    if (theirs === undefined || theirs === storeId) return [];
    return [{ identity, storeId: theirs, lastSeen: new Date(lastSeenMs).toISOString() }];
  });
}

/** One sentence, with the way out. */
export function otherStoreText(others: readonly WorkerElsewhere[]): string {
  const theirs = [...new Set(others.map((other) => other.storeId))].join(', ');
  return (
    `Workers of the task queue keep another event log (store ${theirs}) than this process, which cannot read what they store. ` +
    `Give all processes the same COLLOQUY_DATA or COLLOQUY_DATABASE_URL. Seen: ${others.map(({ identity }) => identity).join(', ')}`
  );
}
