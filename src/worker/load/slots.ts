/** The slots of a worker of all: Temporal's, but for those of workflow tasks. */
import type { WorkerOptions } from '@temporalio/worker';
import { ReplaySlots } from './replay-slots.js';

/** What Temporal's worker has where nobody says anything. */
const DEFAULT = { workflows: 40, activities: 100, localActivities: 100, nexus: 100 } as const;

/** The same tuning, its numbers of slots as a tuner. One that brings a tuner is left as it is. */
export function withSlots(tuning: Partial<WorkerOptions> = {}): Partial<WorkerOptions> {
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
    // As Temporal's worker has it where it is told of numbers.
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
