/** The view of operators, of one tenant at a time. Reads the server and the store; changes nothing. */
import type { Client } from '@temporalio/client';
import type { OperationsSeen } from '../../protocol/log/operations.js';
import { DEFAULT_TASK_QUEUE } from '../../protocol/workflow/messaging.js';
import type { OpenLog } from '../source/open-log.js';
import { createWorkflowSource, type WorkflowSource } from '../source/workflow-source.js';
import { SharedLooks, seen } from './parts.js';
import { lookAtSweep, lookAtWorkers } from './service.js';
import { lookAtLog, lookAtWaits, lookAtWebhooks } from './tenant.js';
import { lookAtTroubles } from './troubles.js';

export interface Operations {
  /**
   * Never rejects: a part that cannot be determined says why. Looks of the same two seconds are shared, so any number
   * of callers costs one look; each part has a bounded number of requests and rows.
   */
  look(tenant: string): Promise<OperationsSeen>;
}

export interface OperationsDeps {
  readonly temporal: Client;
  /** @defaultValue the default task queue */
  readonly taskQueue?: string | undefined;
  readonly opened: Pick<OpenLog, 'log' | 'webhooks'>;
  /** Lists the conversations that the server reports. @defaultValue those of the task queue */
  readonly source?: Pick<WorkflowSource, 'reported'>;
}

type OfService = Pick<OperationsSeen, 'at' | 'sweep' | 'workers'>;
type OfTenant = Omit<OperationsSeen, 'sweep' | 'workers'>;

export function createOperations(deps: OperationsDeps): Operations {
  const { temporal, opened, taskQueue = DEFAULT_TASK_QUEUE } = deps;
  const { log, webhooks } = opened;
  const source = deps.source ?? createWorkflowSource(temporal, { taskQueue });
  const service = new SharedLooks<OfService>();
  const tenants = new SharedLooks<OfTenant>();
  const lookAtService = async (): Promise<OfService> => {
    const at = new Date().toISOString();
    const parts = { temporal, taskQueue, log };
    const [workers, sweep] = await Promise.all([
      seen(() => lookAtWorkers(parts)),
      seen(() => lookAtSweep(parts)),
    ]);
    return { at, workers, sweep };
  };
  const lookAt = async (tenant: string): Promise<OfTenant> => {
    const at = new Date().toISOString();
    const [ofLog, ofWebhooks, waits, troubles] = await Promise.all([
      seen(() => lookAtLog(log, tenant)),
      seen(() => lookAtWebhooks(webhooks, tenant)),
      seen(() => lookAtWaits(log, tenant)),
      seen(() => lookAtTroubles({ temporal, source, log }, tenant)),
    ]);
    return { at, tenant, log: ofLog, webhooks: ofWebhooks, waits, troubles };
  };
  return {
    look: async (tenant) => {
      const [all, own] = await Promise.all([
        service.of('', lookAtService),
        tenants.of(tenant, () => lookAt(tenant)),
      ]);
      return { ...all, ...own, at: all.at < own.at ? all.at : own.at };
    },
  };
}
