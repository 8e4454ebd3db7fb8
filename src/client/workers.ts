/** Who polls the task queue: the reason to give when nobody answered in time. */
import type { Client } from '@temporalio/client';
import { QUERY_DEADLINE_MS } from '../protocol/limits.js';

/** A poll lasts at most a minute, so a living worker was seen within this. */
const RECENTLY_MS = 70_000;

const COMMAND = 'npx colloquy worker --agents <module>';

/** One sentence for an outcome that waits. Never throws. */
export async function missingWorkerText(temporal: Client, taskQueue: string): Promise<string> {
  const lastSeen = await lastSeenMs(temporal, taskQueue).catch(() => 'unknown' as const);
  if (lastSeen === 'unknown') return `No worker answered on task queue "${taskQueue}" in time`;
  const seen = lastSeen === undefined ? 'never' : new Date(lastSeen).toISOString();
  if (lastSeen !== undefined && Date.now() - lastSeen < RECENTLY_MS)
    return `No worker answered on task queue "${taskQueue}" in time (last seen: ${seen}). If none runs: ${COMMAND}`;
  return `No worker polls task queue "${taskQueue}" (last seen: ${seen}). Start one: ${COMMAND}`;
}

/** The newest poll for workflow tasks, which is what is described when no type is named. */
async function lastSeenMs(temporal: Client, taskQueue: string): Promise<number | undefined> {
  const { namespace } = temporal.options;
  const description = await temporal.withDeadline(Date.now() + QUERY_DEADLINE_MS, () =>
    temporal.workflowService.describeTaskQueue({
      namespace,
      taskQueue: { name: taskQueue },
    }),
  );
  const times = description.pollers.map((poller) => {
    const { seconds, nanos } = poller.lastAccessTime ?? {};
    return Number(seconds ?? 0) * 1000 + (nanos ?? 0) / 1_000_000;
  });
  return times.length === 0 ? undefined : Math.max(...times);
}
