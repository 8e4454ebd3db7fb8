/**
 * A deploy that decides otherwise than the code before and after it: each run of an approved tool has a timer beside
 * it.
 */
import { sleep, type WorkflowInterceptors } from '@temporalio/workflow';

export const interceptors = (): WorkflowInterceptors => ({
  outbound: [
    {
      scheduleActivity: async (input, next) => {
        const [given] = input.args as readonly { readonly approver?: object }[];
        if (input.activityType === 'runTool' && given?.approver !== undefined)
          void sleep('300 days').catch(() => undefined);
        return await next(input);
      },
    },
  ],
});
