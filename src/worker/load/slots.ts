/** The slots of a worker for tasks of each kind: Temporal's defaults, except for workflow tasks. */
import type { WorkerOptions } from '@temporalio/worker';
import { CACHED_RUNS } from '../../protocol/limits/service-limits.js';
import { ReplaySlots } from './replay-slots.js';

/** The defaults of Temporal's worker. */
const DEFAULT = { workflows: 40, activities: 100, localActivities: 100, nexus: 100 } as const;

/** The same tuning, its numbers of slots as a tuner; the slots of one that brings a tuner are left as they are. */
export function withSlots(given: Partial<WorkerOptions> = {}): Partial<WorkerOptions> {
  const tuning = { maxCachedWorkflows: CACHED_RUNS, ...given };
  if (tuning.tuner !== undefined) return tuning;
  const {
    maxConcurrentWorkflowTaskExecutions: workflows = DEFAULT.workflows,
    maxConcurrentActivityTaskExecutions: activities = DEFAULT.activities,
    maxConcurrentLocalActivityExecutions: localActivities = DEFAULT.localActivities,
    maxConcurrentNexusTaskExecutions: nexus = DEFAULT.nexus,
    ...rest
  } = tuning;
  const fixed = (numSlots: number) => ({ type: 'fixed-size' as const, numSlots });
  return {
    // The defaults of Temporal's worker that it drops where a tuner is given.
    maxConcurrentWorkflowTaskPolls: Math.min(10, workflows),
    maxConcurrentActivityTaskPolls: Math.min(10, activities),
    ...rest,
    tuner: {
      workflowTaskSlotSupplier: new ReplaySlots({ slots: workflows }),
      activityTaskSlotSupplier: fixed(activities),
      localActivityTaskSlotSupplier: fixed(localActivities),
      nexusTaskSlotSupplier: fixed(nexus),
    },
  };
}
