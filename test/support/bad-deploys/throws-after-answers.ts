/** A deploy with a bug: a tool that was approved cannot be started. Every task that tries to fails. */
import type { WorkflowInterceptors } from '@temporalio/workflow';

export const interceptors = (): WorkflowInterceptors => ({
  outbound: [
    {
      scheduleActivity: async (input, next) => {
        if (input.activityType === 'runTool')
          throw new TypeError('no such plan\nat the second line');
        return await next(input);
      },
    },
  ],
});
