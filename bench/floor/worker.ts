/**
 * Worker process of the floor: Temporal's defaults, except for gzip on loopback and the timeouts, which are those of
 * the engine; one task queue, the workflow bundled at start.
 */
import { fileURLToPath } from 'node:url';
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { FLOOR_QUEUE, FLOOR_TIMEOUTS, MODEL_TEXT } from '../shared/cells.js';
import type { FloorActivities } from './workflows.js';

const activities: FloorActivities = {
  model: () => Promise.resolve(MODEL_TEXT),
  tool: () => Promise.resolve('{"found":"yes"}'),
};

Runtime.install({ logger: new DefaultLogger('WARN') });
const address = process.env['TEMPORAL_ADDRESS'] ?? '';
const connection = await NativeConnection.connect({ address, grpcCompression: { codec: 'none' } });
const worker = await Worker.create({
  connection,
  taskQueue: FLOOR_QUEUE,
  stickyQueueScheduleToStartTimeout: FLOOR_TIMEOUTS.sticky,
  workflowsPath: fileURLToPath(new URL('./workflows.js', import.meta.url)),
  activities: { ...activities },
});
process.once('disconnect', () => {
  worker.shutdown();
});
process.channel?.unref();
process.send?.({ type: 'ready' });
await worker.run();
await connection.close();
