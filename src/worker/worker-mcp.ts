/** The MCP servers of a worker, with the task queue for runs that continue calls which this worker holds open. */
import type { Logger } from '../define/tool/context.js';
import { McpServers } from '../tools/mcp/servers.js';
import type { Scopes } from '../tools/scope/scopes.js';
import { type QueueWorker, WorkerQueue } from './worker-queue.js';

interface WorkerMcpOptions {
  readonly scopes: Scopes;
  readonly logger: Logger;
  /** Addresses of the API of this installation. */
  readonly apiUrls?: readonly string[] | undefined;
  /** The task queue of all workers. */
  readonly taskQueue: string;
  /** Creates a worker for this process's own queue, without running it. */
  readonly create: (taskQueue: string) => Promise<QueueWorker>;
}

export interface WorkerMcp {
  readonly mcp: McpServers;
  /** Called once the main worker has stopped. Never throws. */
  close(): Promise<void>;
}

/** Opens no connection yet. */
export function workerMcp(options: WorkerMcpOptions): WorkerMcp {
  const { scopes, logger, apiUrls, taskQueue, create } = options;
  const own = new WorkerQueue(taskQueue, { create, logger });
  const mcp = new McpServers({ scopes, logger, apiUrls, ownQueue: () => own.poll() });
  return {
    mcp,
    close: async () => {
      // Runs that are drained there need their connections to the end.
      await own.stop();
      await mcp.close();
    },
  };
}
