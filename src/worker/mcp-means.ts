/** The MCP servers of a worker, with the task queue for runs that continue calls which this worker holds open. */
import type { Logger } from '../define/tool/context.js';
import { McpServers } from '../tools/mcp/servers.js';
import { OwnQueue, type QueueWorker } from './own-queue.js';

interface McpMeansOptions {
  readonly services: unknown;
  readonly logger: Logger;
  /** The task queue of all workers. */
  readonly taskQueue: string;
  /** Creates a worker for this process's own queue, without running it. */
  readonly create: (taskQueue: string) => Promise<QueueWorker>;
}

export interface McpMeans {
  readonly mcp: McpServers;
  /** Called once the main worker has stopped. Never throws. */
  close(): Promise<void>;
}

/** Opens no connection yet. */
export function mcpMeans({ services, logger, taskQueue, create }: McpMeansOptions): McpMeans {
  const own = new OwnQueue(taskQueue, { create, logger });
  const mcp = new McpServers({ services, logger, ownQueue: () => own.poll() });
  return {
    mcp,
    close: async () => {
      // Runs that are drained there need their connections to the end.
      await own.stop();
      await mcp.close();
    },
  };
}
