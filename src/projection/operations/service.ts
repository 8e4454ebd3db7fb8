/** Parts of the view that belong to no tenant: the workers of the task queue, and the sweep. */
import type { Client } from '@temporalio/client';
import { identityIn, storeIdIn } from '../../client/workers/identity.js';
import { type Poller, pollersOf } from '../../client/workers/worker-hint.js';
import { WORKER_SILENT_MS } from '../../protocol/limits/service-limits.js';
import type {
  SeenPass,
  SeenSweep,
  SeenWorker,
  SeenWorkers,
  WorkerState,
} from '../../protocol/log/operations.js';
import type { EventLog } from '../../store/ports/log.js';
import type { AnnouncedWorker } from '../../store/ports/presence.js';
import { passIn } from '../projector/sweep-note.js';
import { leaseName } from '../source/workflow-source.js';
import { PART_DEADLINE_MS, reasonOf } from './parts.js';
import { START_WORKER } from './troubled.js';

export interface ServiceParts {
  readonly temporal: Client;
  readonly taskQueue: string;
  readonly log: Pick<EventLog, 'heldLease' | 'liveWorkers' | 'silentWorkers' | 'storeId'>;
}

const MAX_WORKERS = 100;
/** A poll lasts at most a minute, so a worker that lives was seen within this time. */
const POLLED_MS = 70_000;
/** Milliseconds; a worker that is held up for a moment is not shown as silent. */
const SILENT_MS = 4 * WORKER_SILENT_MS;

/** The server's pollers, and the store's signs of life: each without the other, if need be. @throws without both */
export async function lookAtWorkers(parts: ServiceParts): Promise<SeenWorkers> {
  const [polled, announced] = await Promise.allSettled([pollersIn(parts), announcedIn(parts)]);
  const reasons = [polled, announced].flatMap((each) =>
    each.status === 'rejected' ? [reasonOf(each.reason)] : [],
  );
  if (reasons.length === 2) throw new Error(reasons.join('; '));
  const workers = joined(
    polled.status === 'fulfilled' ? polled.value : undefined,
    announced.status === 'fulfilled' ? announced.value : undefined,
  );
  const isUp = workers.some(({ state, polls }) => state === 'up' || isPolling({ state, polls }));
  return {
    taskQueue: parts.taskQueue,
    workers: workers.slice(0, MAX_WORKERS),
    more: workers.length > MAX_WORKERS,
    ...(reasons[0] === undefined ? {} : { incomplete: reasons[0] }),
    ...(isUp ? {} : { nextCommand: START_WORKER }),
  };
}

function isPolling({ state, polls }: Pick<SeenWorker, 'polls' | 'state'>): boolean {
  return state === 'unknown' && polls.length > 0;
}

interface Polled extends Poller {
  readonly polls: ('workflow' | 'activity')[];
}

async function pollersIn({ temporal, taskQueue }: ServiceParts): Promise<readonly Polled[]> {
  const found = new Map<string, Polled>();
  const types = ['workflow', 'activity'] as const;
  const lists = await Promise.all(
    types.map((type) => pollersOf(temporal, taskQueue, { type, deadlineMs: PART_DEADLINE_MS / 2 })),
  );
  for (const [index, type] of types.entries())
    for (const poller of lists[index] ?? []) {
      const { polls = [], lastSeenMs = 0 } = found.get(poller.identity) ?? {};
      found.set(poller.identity, {
        ...poller,
        lastSeenMs: Math.max(lastSeenMs, poller.lastSeenMs),
        polls: [...polls, type],
      });
    }
  return [...found.values()];
}

interface Announced {
  readonly live: readonly AnnouncedWorker[];
  readonly silent: ReadonlySet<string>;
  /** The store in which they are announced. */
  readonly storeId: string;
}

async function announcedIn({ log }: ServiceParts): Promise<Announced> {
  const [live, silent, storeId] = await Promise.all([
    log.liveWorkers(),
    log.silentWorkers(SILENT_MS),
    log.storeId(),
  ]);
  return { live, silent: new Set(silent), storeId };
}

/**
 * The store has the workers of all task queues: those that the server has not seen on this one are left out, unless the
 * server cannot be asked.
 */
function joined(
  polled: readonly Polled[] | undefined,
  announced: Announced | undefined,
): readonly SeenWorker[] {
  // A worker that lives counts before a silent one of the same identity.
  const silentFirst = announced?.live.toSorted(
    (one, other) => Number(announced.silent.has(other.id)) - Number(announced.silent.has(one.id)),
  );
  const byIdentity = new Map(silentFirst?.map((each) => [identityIn(each.id), each]));
  const workers: readonly SeenWorker[] =
    polled?.map((poller) => workerOf(poller, announced, byIdentity.get(poller.identity))) ??
    [...byIdentity].map(([identity, each]) => ({
      ...{ identity, polls: [], agents: Object.keys(each.agents) },
      state: announced?.silent.has(each.id) === true ? ('silent' as const) : ('up' as const),
    }));
  return workers.toSorted(
    (one, other) =>
      ORDER[one.state] - ORDER[other.state] ||
      (other.lastPollAt ?? '').localeCompare(one.lastPollAt ?? '') ||
      one.identity.localeCompare(other.identity),
  );
}

const ORDER: Readonly<Record<WorkerState, number>> = { up: 0, unknown: 1, silent: 2, gone: 3 };

function workerOf(
  poller: Polled,
  announced: Announced | undefined,
  presence: AnnouncedWorker | undefined,
): SeenWorker {
  const { identity, polls, lastSeenMs, deployment, buildId } = poller;
  return {
    identity,
    state: stateOf(poller, announced, presence),
    polls,
    lastPollAt: new Date(lastSeenMs).toISOString(),
    ...(deployment === undefined ? {} : { deployment }),
    ...(buildId === undefined ? {} : { buildId }),
    ...(presence === undefined ? {} : { agents: Object.keys(presence.agents) }),
  };
}

/** A worker announces itself before it polls, and takes that back when it stops. */
function stateOf(
  { identity, lastSeenMs }: Polled,
  announced: Announced | undefined,
  presence: AnnouncedWorker | undefined,
): WorkerState {
  if (presence !== undefined) return announced?.silent.has(presence.id) === true ? 'silent' : 'up';
  const isOfStore = announced !== undefined && storeIdIn(identity) === announced.storeId;
  return isOfStore || Date.now() - lastSeenMs >= POLLED_MS ? 'gone' : 'unknown';
}

/** The leader, and the newest pass. @throws errors of the store */
export async function lookAtSweep({ log, taskQueue }: ServiceParts): Promise<SeenSweep> {
  const lease = await log.heldLease(leaseName('sweep', { taskQueue }));
  const lastPass: SeenPass | undefined = passIn(lease?.note);
  const isHeld = lease !== undefined && lease.leftMs > 0;
  return {
    ...(isHeld ? { leader: identityIn(lease.holder) } : { nextCommand: START_WORKER }),
    ...(lastPass === undefined ? {} : { lastPass }),
  };
}
