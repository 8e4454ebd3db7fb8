/**
 * A source that returns pushed events, once the history shows that their tasks were completed; else it queries the
 * workflow. Pushed events that the caller has stored, and only compares, need no proof.
 */

import { PushedEvents } from './pushed-events.js';
import type { FindCompletion } from './task-commit.js';
import type { WorkflowSource } from './workflow-source.js';

export function createEventSource(
  source: WorkflowSource,
  findCompletion: FindCompletion,
): WorkflowSource {
  const pushed = new PushedEvents();
  return {
    ...source,
    pushed: (hint) => {
      pushed.take(hint);
    },
    events: async (key, query) => {
      const { runId, after, upTo, stored = 0 } = query;
      if (runId !== undefined && upTo !== undefined) {
        const found = pushed.page(key, { runId, after, upTo });
        if (found !== undefined) {
          const { page, task, pushedAt, replayed } = found;
          const last = page.events.at(-1);
          // Nothing of it is stored anew, so nothing has to be proven.
          if (last !== undefined && last.seq <= stored) return page;
          const by = replayed === true ? { byAnyWorker: true } : {};
          const completion = await findCompletion(key, { runId, task, pushedAt, ...by });
          if (completion !== undefined) return { ...page, ...completion };
        }
      }
      return await source.events(key, query);
    },
  };
}
