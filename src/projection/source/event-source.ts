/**
 * A source that returns pushed events, once the history shows that their tasks were completed; else it queries the
 * workflow.
 */

import { PushedEvents } from './pushed-events.js';
import type { IsTaskCompleted } from './task-commit.js';
import type { WorkflowSource } from './workflow-source.js';

export function createEventSource(
  source: WorkflowSource,
  isCommitted: IsTaskCompleted,
): WorkflowSource {
  const pushed = new PushedEvents();
  return {
    ...source,
    pushed: (hint) => {
      pushed.take(hint);
    },
    events: async (key, query) => {
      const { runId, after, upTo } = query;
      if (runId !== undefined && upTo !== undefined) {
        const found = pushed.page(key, { runId, after, upTo });
        if (found !== undefined) {
          const { page, task, pushedAt, replayed } = found;
          const by = replayed === true ? { byAnyWorker: true } : {};
          if (await isCommitted(key, { runId, task, pushedAt, ...by })) return page;
        }
      }
      return await source.events(key, query);
    },
  };
}
