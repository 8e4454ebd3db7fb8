/** A deploy that decides otherwise than the code before and after it: each run of a tool has a timer beside it. */
import { sleep, type WorkflowInterceptors } from '@temporalio/workflow';

export const interceptors = (): WorkflowInterceptors => ({
  outbound: [
    {
      scheduleActivity: async (input, next) => {
        if (input.activityType === 'runTool') void sleep('300 days').catch(() => undefined);
        return await next(input);
      },
    },
  ],
});
