/** A deploy with a bug: an approved tool cannot be started, and every task that starts one fails. */
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
