/**
 * Processes of MCP servers end with their worker, also where it ends without closing them: by an exception that nobody caught, or by
 * `process.exit`. A worker that is killed can do nothing more; its processes then find their input closed. Runs in the worker.
 */
import type { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

const running = new Set<StdioClientTransport>();

/** Before the transport is started. */
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

/** Only what is done at once is done at all here. */
function endAll(): void {
  for (const { pid } of running) {
    try {
      if (pid !== null) process.kill(pid);
    } catch {
      // It has ended by itself.
    }
  }
}
