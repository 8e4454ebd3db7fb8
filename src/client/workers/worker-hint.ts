/** Reads which workers poll the task queue, to explain why no answer came in time. */
import type { Client } from '@temporalio/client';
import proto from '@temporalio/proto';
import { QUERY_DEADLINE_MS } from '../../protocol/limits/service-limits.js';

const { TaskQueueType } = proto.temporal.api.enums.v1;

/** A poll lasts at most a minute, so a living worker was seen within this. */
const RECENTLY_MS = 70_000;

/** The longest pause of the SDK between two tries to poll a server that was down. */
const RECONNECTED = 'about 10 s';

const COMMAND = 'npx colloquy worker --agents <module>';

export interface WorkerWitness {
  /** Milliseconds since 1970 when a worker last answered this process; undefined when none has. */
  readonly answeredAt?: number | undefined;
}

/** One sentence for an outcome that waits. Never throws. */
export async function missingWorkerText(
  temporal: Client,
  taskQueue: string,
  { answeredAt }: WorkerWitness = {},
): Promise<string> {
  const lastSeen = await lastSeenMs(temporal, taskQueue).catch(() => 'unknown' as const);
  if (lastSeen === 'unknown') return `No worker answered on task queue "${taskQueue}" in time`;
  if (lastSeen === undefined) return unseenText(taskQueue, answeredAt);
  const seen = new Date(lastSeen).toISOString();
  if (Date.now() - lastSeen < RECENTLY_MS)
    return `No worker answered on task queue "${taskQueue}" in time (last seen: ${seen}). If none runs: ${COMMAND}`;
  return `No worker polls task queue "${taskQueue}" (last seen: ${seen}). Start one: ${COMMAND}`;
}

/**
 * A server that was restarted has seen no worker yet, and one that runs forgets after some minutes: neither is "never".
 */
function unseenText(taskQueue: string, answeredAt: number | undefined): string {
  if (answeredAt === undefined)
    return `No worker polls task queue "${taskQueue}" (the server has seen none lately). Start one: ${COMMAND} - unless Temporal was just restarted: running workers are back within ${RECONNECTED}`;
  const answered = new Date(answeredAt).toISOString();
  return `No worker polls task queue "${taskQueue}" at the moment (one answered at ${answered}). After a restart of Temporal running workers are back within ${RECONNECTED}; if none runs: ${COMMAND}`;
}

/** The newest poll. */
async function lastSeenMs(temporal: Client, taskQueue: string): Promise<number | undefined> {
  const times = (await pollersOf(temporal, taskQueue)).map((poller) => poller.lastSeenMs);
  return times.length === 0 ? undefined : Math.max(...times);
}

export interface Poller {
  readonly identity: string;
  /** Milliseconds since 1970. */
  readonly lastSeenMs: number;
  /** Name of the deployment of a versioned worker. */
  readonly deployment?: string;
  readonly buildId?: string;
}

export interface PollersAsked {
  /** @defaultValue workflow: the server describes these when no type is named */
  readonly type?: 'workflow' | 'activity';
  /** @defaultValue `QUERY_DEADLINE_MS` */
  readonly deadlineMs?: number;
}

/** Workers that live, and those that have ended within a little more than a minute. @throws errors of the server */
export async function recentPollers(
  temporal: Client,
  taskQueue: string,
  asked: PollersAsked = {},
): Promise<readonly Poller[]> {
  const now = Date.now();
  const pollers = await pollersOf(temporal, taskQueue, asked);
  return pollers.filter((poller) => now - poller.lastSeenMs < RECENTLY_MS);
}

/** The server remembers each for about five minutes. @throws errors of the server */
export async function pollersOf(
  temporal: Client,
  taskQueue: string,
  { type, deadlineMs = QUERY_DEADLINE_MS }: PollersAsked = {},
): Promise<readonly Poller[]> {
  const { namespace } = temporal.options;
  const description = await temporal.withDeadline(Date.now() + deadlineMs, () =>
    temporal.workflowService.describeTaskQueue({
      namespace,
      taskQueue: { name: taskQueue },
      ...(type === undefined ? {} : { taskQueueType: TYPES[type] }),
    }),
  );
  return description.pollers.map(({ identity, lastAccessTime, ...versions }) => {
    const { seconds, nanos } = lastAccessTime ?? {};
    const { deploymentOptions: options, workerVersionCapabilities: capabilities } = versions;
    const buildId = options?.buildId || capabilities?.buildId;
    return {
      identity: identity ?? '',
      lastSeenMs: Number(seconds ?? 0) * 1000 + (nanos ?? 0) / 1_000_000,
      ...(options?.deploymentName ? { deployment: options.deploymentName } : {}),
      ...(buildId ? { buildId } : {}),
    };
  });
}

const TYPES = {
  workflow: TaskQueueType.TASK_QUEUE_TYPE_WORKFLOW,
  activity: TaskQueueType.TASK_QUEUE_TYPE_ACTIVITY,
} as const;
