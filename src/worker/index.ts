/** Entry `colloquy/worker`: run agents. Named exports only; adding one is adding to the public surface. */
export type { BlobChoice, EventLogChoice } from '../projection/open-log.js';
export { openEventLog } from '../projection/open-log.js';
export { startWatchdog, type Watchdog, type WatchdogOptions } from '../watchdog/watchdog.js';
export type { ColloquyWorker, ColloquyWorkerOptions } from './create-worker.js';
export { createColloquyWorker } from './create-worker.js';
export type { RetentionOptions } from './retention.js';
export { WorkflowStuck } from './sdk-workarounds/stuck-watch.js';
export { MissingSearchAttributes, SEARCH_ATTRIBUTE_TYPES } from './search-attributes.js';
export type { TemporalSettings } from './temporal.js';
export { connectClient, connectNative, TemporalUnreachable, temporalSettings } from './temporal.js';
