/** How a process of the command line lives: says when it is ready, stops once, exits with words. */

/** Tells the parent (when there is one) and the reader of the terminal that the process serves. */
export function announceReady(line: string): void {
  process.stdout.write(`${line}\n`);
  process.send?.({ type: 'ready' });
}

/** Runs `stop` at the first SIGTERM or SIGINT, or when the parent that started the process is gone. */
export function onStop(stop: () => void): void {
  let stopping = false;
  const once = (): void => {
    if (stopping) return;
    stopping = true;
    stop();
  };
  process.on('SIGTERM', once);
  process.on('SIGINT', once);
  process.on('disconnect', once);
  // Listening to the parent must not keep the process alive once its work is done.
  process.channel?.unref();
}

/**
 * The end of a process that has closed what it opened. At once: a call to Temporal that was given up may still be waiting for
 * its next try, and the SDK throws from that timer when its connection is closed.
 */
export function exitNow(code: 0 | 1 = 0): never {
  process.exit(code);
}

/** The end of a command that failed: its message, and nothing of its inside unless asked for. */
export function failWith(error: unknown): void {
  const message = error instanceof Error ? error.message : String(error);
  process.stderr.write(`colloquy: ${message}\n`);
  if (process.env['COLLOQUY_LOG_LEVEL'] === 'debug' && error instanceof Error)
    process.stderr.write(`${error.stack ?? ''}\n`);
  // Not `exitCode`: a connection that was opened before the failure would keep the process alive.
  process.exit(1);
}
