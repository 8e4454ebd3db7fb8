/** Watches of a running worker: the server, other stores on its task queue, and whether it is ready. */
import type { Client } from '@temporalio/client';
import type { Worker } from '@temporalio/worker';
import { messageOf } from '../../client/temporal/errors.js';
import { workersElsewhere } from '../../client/workers/workers-elsewhere.js';
import type { Logger } from '../../define/tool/context.js';
import type { ReadinessChecks } from '../../net/readiness.js';
import { StoreWatch } from '../../projection/duties/store-watch.js';
import { newestEvents } from '../../projection/source/history-tail.js';
import type { OpenLog } from '../../projection/source/open-log.js';
import { QUERY_DEADLINE_MS } from '../../protocol/limits/service-limits.js';
import { ServerWatch } from './server-watch.js';

export interface Watched {
  readonly client: Client;
  readonly opened: OpenLog;
  readonly logger: Logger;
  readonly storeId: string;
  /** Address of the Temporal server. */
  readonly address: string;
}

export function serverWatch({ client, logger, address }: Watched): ServerWatch {
  return new ServerWatch({ ping: () => ping(client), address, logger });
}

/** A ping has the same deadline as a query of a workflow: one second. */
async function ping(client: Client): Promise<void> {
  await inTime(client, () => client.workflowService.getSystemInfo({}));
}

export function readinessOfWorker(
  worker: Worker,
  { client, opened, address }: Watched,
): ReadinessChecks {
  return {
    temporal: async () => {
      await ping(client).catch((error: unknown) => {
        throw new Error(`Temporal at ${address} does not answer: ${messageOf(error)}`);
      });
    },
    polling: async () => {
      const { runState, workflowPollerState, activityPollerState } = worker.getStatus();
      if (workflowPollerState !== 'POLLING' || activityPollerState !== 'POLLING')
        throw new Error(
          `not polling: worker ${runState}, workflows ${workflowPollerState}, activities ${activityPollerState}`,
        );
    },
    store: () => opened.log.checkWritable(),
  };
}

/** Newest transactions of a history that are checked for their writers: some turns. */
const WATCHED_TRANSACTIONS = 50;

export function storeWatch({ client, logger, storeId }: Watched, taskQueue: string): StoreWatch {
  return new StoreWatch({
    storeId,
    check: () => inTime(client, () => workersElsewhere(client, { taskQueue, storeId })),
    newest: (run) => inTime(client, () => newestEvents(client, run, WATCHED_TRANSACTIONS)),
    logger,
  });
}

/** Bounds the call, so that a worker that stops does not wait for an unavailable server. */
function inTime<Result>(client: Client, work: () => Promise<Result>): Promise<Result> {
  return client.withDeadline(Date.now() + QUERY_DEADLINE_MS, work);
}
