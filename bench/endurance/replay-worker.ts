/**
 * A worker of quick turns in a process of its own. `BENCH_SLOTS=fixed` gives it the slots of Temporal's worker instead
 * of the engine's.
 */
import { join } from 'node:path';
import { createColloquyWorker } from 'colloquy/worker';
import { quick } from './agents.js';

const log = (...words: readonly unknown[]): void => {
  process.stderr.write(`${JSON.stringify(words)}\n`);
};
const fixed = (numSlots: number) => ({ type: 'fixed-size' as const, numSlots });
const worker = await createColloquyWorker({
  agents: [quick],
  services: undefined,
  eventLog: join(process.env['COLLOQUY_DATA'] ?? '', 'log.db'),
  logger: { debug: () => undefined, info: () => undefined, warn: log, error: log },
  ...(process.env['BENCH_SLOTS'] === 'fixed'
    ? {
        tuning: {
          tuner: {
            workflowTaskSlotSupplier: fixed(40),
            activityTaskSlotSupplier: fixed(100),
            localActivityTaskSlotSupplier: fixed(100),
            nexusTaskSlotSupplier: fixed(100),
          },
        },
      }
    : {}),
});
process.once('disconnect', () => worker.shutdown());
process.channel?.unref();
process.send?.({ type: 'ready' });
await worker.run();
process.exit(0);
