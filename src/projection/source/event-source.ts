/**
 * A source that returns pushed events, once the history shows that their tasks were completed; else it queries the
 * workflow.
 */

import { ToldEvents } from './pushed-events.js';
import type { IsCommitted } from './task-commit.js';
import type { WorkflowSource } from './workflow-source.js';

export function createToldSource(source: WorkflowSource, isCommitted: IsCommitted): WorkflowSource {
  const told = new ToldEvents();
  return {
    ...source,
    told: (hint) => {
      told.take(hint);
    },
    events: async (key, query) => {
      const { runId, after, upTo } = query;
      if (runId !== undefined && upTo !== undefined) {
        const found = told.page(key, { runId, after, upTo });
        if (found !== undefined) {
          const { page, task, toldAt } = found;
          if (await isCommitted(key, { runId, task, toldAt })) return page;
        }
      }
      return await source.events(key, query);
    },
  };
}
