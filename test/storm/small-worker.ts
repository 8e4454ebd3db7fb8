/** A worker that evicts runs all the time: its cache holds few, so nearly every task of it begins with a replay. */
import { join } from 'node:path';
import { createColloquyWorker } from 'colloquy/worker';
import { loadAgents } from '#dist/cli/process/agents-module.js';

const CACHED_RUNS = 2;

const [file = ''] = process.argv.slice(2);
const log = (...words: readonly unknown[]): void => {
  process.stderr.write(`${JSON.stringify(words)}\n`);
};
const worker = await createColloquyWorker({
  ...(await loadAgents(file)),
  eventLog: join(process.env['COLLOQUY_DATA'] ?? '', 'log.db'),
  taskQueue: process.env['COLLOQUY_TASK_QUEUE'] ?? '',
  logger: { debug: () => undefined, info: () => undefined, warn: log, error: log },
  tuning: { maxCachedWorkflows: CACHED_RUNS },
});
process.once('SIGTERM', () => worker.shutdown());
process.once('disconnect', () => worker.shutdown());
process.channel?.unref();
process.send?.({ type: 'ready' });
await worker.run();
process.exit(0);
