/** The life of a command line process: reports when it is ready, stops once, exits with a message. */

/** Notifies the parent process, if there is one, and prints the line to the terminal. */
export function announceReady(line: string): void {
  process.stdout.write(`${line}\n`);
  process.send?.({ type: 'ready' });
}

const exitAtOnce = (): void => {
  process.exit(0);
};

/**
 * Ends a process that is still starting at SIGTERM or SIGINT, until `onStop` takes over. Without a handler the first
 * process of a container ignores both.
 */
export function endWhileStarting(): void {
  process.once('SIGTERM', exitAtOnce);
  process.once('SIGINT', exitAtOnce);
}

/** npm forwards a signal to its child, which has one Ctrl-C of the terminal twice then. */
const SAME_SIGNAL_MS = 500;

/** Runs `stop` at the first SIGTERM or SIGINT, or when the parent process is gone, and `again` at later signals. */
export function onStop(stop: () => void, again?: () => void): void {
  let stoppedAt: number | undefined;
  const once = (): void => {
    if (stoppedAt === undefined) {
      stoppedAt = performance.now();
      stop();
    } else if (performance.now() - stoppedAt >= SAME_SIGNAL_MS) again?.();
  };
  process.off('SIGTERM', exitAtOnce);
  process.off('SIGINT', exitAtOnce);
  process.on('SIGTERM', once);
  process.on('SIGINT', once);
  process.on('disconnect', () => {
    if (stoppedAt === undefined) once();
  });
  // Listening to the parent must not keep the process alive once its work is done.
  process.channel?.unref();
}

/**
 * Ends a process that has closed its resources, without waiting for the timers of calls to Temporal that were given up.
 */
export function exitNow(code: 0 | 1 = 0): never {
  process.exit(code);
}

/** Ends the process when the reader of its output has left, such as `head`: it has what it wanted. */
export function endWhenUnread(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    process.exit(0);
  });
}

/** Ends a command that failed: prints its message, and its stack only at log level debug. */
export function failWith(error: unknown): void {
  const message = error instanceof Error ? error.message : String(error);
  process.stderr.write(`colloquy: ${message}\n`);
  if (process.env['COLLOQUY_LOG_LEVEL'] === 'debug' && error instanceof Error)
    process.stderr.write(`${error.stack ?? ''}\n`);
  // Not `exitCode`: a connection that was opened before the failure would keep the process alive.
  process.exit(1);
}
