/** Completes the stored log of a closed conversation before its state is restored from it. */
import type { ConversationKey } from '../../protocol/values/ids.js';
import { conversationKey } from '../../protocol/values/ids.js';
import type { LiveChannel } from '../../store/ports/live.js';
import type { EventLog } from '../../store/ports/log.js';
import { StoreUnavailable } from '../../store/ports/log.js';
import { SILENT } from '../source/outages.js';
import type { WorkflowSource } from '../source/workflow-source.js';
import { CatchUp } from './catch-up.js';

/** The store lacks the end of a log that Temporal still has, and no worker returns it. Safe to try again. */
export class LogIncomplete extends Error {
  readonly code = 'no_worker';
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'LogIncomplete';
  }
}

/**
 * Fetches the events of a closed run, and of those before it, beyond the store: hints may have been lost with a store
 * outage that covered the close. The store is the only source when Temporal does not have the run, or it was ended from
 * outside. Safe to repeat.
 * @throws {LogIncomplete} when the run is known, and it or one before it cannot be read.
 * @throws {StoreUnavailable}
 */
export async function completeLog(
  deps: {
    readonly log: EventLog;
    readonly live: LiveChannel | undefined;
    readonly source: WorkflowSource;
  },
  key: ConversationKey,
  runId: string,
): Promise<void> {
  const { log, live = NO_LIVE_CHANNEL } = deps;
  const source = sourceUpTo(deps.source, runId);
  const run = await source.describe(key);
  if (run?.status !== 'closed') return;
  const head = await log.head(key);
  if (head?.runId === run.runId && head.snapshot.status === 'closed') return;
  const catchUp = new CatchUp({ log, live, source, logger: SILENT });
  const lacking = `The event log does not have the end of ${conversationKey(key)}, and no worker returns it`;
  const { outcome } = await catchUp.run(key, run).catch((error: unknown) => {
    if (error instanceof StoreUnavailable) throw error;
    throw new LogIncomplete(lacking, { cause: error });
  });
  if (outcome === 'gap') throw new LogIncomplete(lacking);
}

/** The same source, for which this run is the current one: a newer run has begun, and waits for this log. */
function sourceUpTo(source: WorkflowSource, runId: string): WorkflowSource {
  return {
    events: (key, wanted) => source.events(key, wanted),
    describe: (key) => source.describe(key, runId),
    previousRun: async (key, id) => await source.previousRun?.(key, id),
    startOf: async (key, id) => await source.startOf?.(key, id),
  };
}

/** Readers without a live channel find appended events by polling. */
const NO_LIVE_CHANNEL: LiveChannel = {
  publish: () => undefined,
  subscribe: () => () => undefined,
  watched: () => undefined,
  onJoin: () => () => undefined,
  close: () => Promise.resolve(),
};
