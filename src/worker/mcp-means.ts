/** The MCP servers of a worker, with the queue on which runs go on whose calls it holds open. */
import type { Logger } from '../define/tool/context.js';
import { McpServers } from '../tools/mcp/servers.js';
import { OwnQueue, type QueueWorker } from './own-queue.js';

interface McpMeansOptions {
  readonly services: unknown;
  readonly logger: Logger;
  /** That of all workers. */
  readonly taskQueue: string;
  /** A worker for the queue of this one alone, which has not been run. */
  readonly create: (taskQueue: string) => Promise<QueueWorker>;
}

export interface McpMeans {
  readonly mcp: McpServers;
  /** Once the worker of all has stopped. Never throws. */
  close(): Promise<void>;
}

/** Opens nothing yet. */
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
