/**
 * Workers that use another event log than this process, which cannot read what they store. Needs nothing shared but
 * Temporal.
 */
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
 * Workers of a task queue, seen within a little more than a minute, whose store is not this one. Workers without a
 * store id in their identity are left out: those of other languages, of older builds, and with an identity of their
 * own. @throws errors of the server, or a time-out after a second
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

/** One sentence, with the way to correct it. */
export function otherStoreText(others: readonly WorkerElsewhere[]): string {
  const theirs = [...new Set(others.map((other) => other.storeId))].join(', ');
  return (
    `Workers of the task queue keep another event log (store ${theirs}) than this process, which cannot read what they store. ` +
    `Give all processes the same COLLOQUY_DATA or COLLOQUY_DATABASE_URL. Seen: ${others.map(({ identity }) => identity).join(', ')}`
  );
}
