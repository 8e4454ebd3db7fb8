/**
 * Ends the processes of MCP servers with their worker, also when it exits without closing them: by an uncaught
 * exception, or by `process.exit`. A killed worker can do nothing more; its processes then find their input closed.
 * Runs in the worker.
 */
import type { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

const running = new Set<StdioClientTransport>();

/** Must be called before the transport is started. */
export function endsWithWorker(transport: StdioClientTransport): void {
  if (running.size === 0) process.on('exit', endAll);
  running.add(transport);
  const then = transport.onclose;
  transport.onclose = () => {
    running.delete(transport);
    if (running.size === 0) process.off('exit', endAll);
    then?.();
  };
}

/** An exit handler can only do synchronous work. */
function endAll(): void {
  for (const { pid } of running) {
    try {
      if (pid !== null) process.kill(pid);
    } catch {
      // The process has ended by itself.
    }
  }
}
