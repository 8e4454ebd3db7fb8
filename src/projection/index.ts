/** Entry `colloquy/log`: read conversations from the event log, in any process that can reach it. */
export { createHolders } from './holders.js';
export type { EventLogChoice, OpenLog } from './open-log.js';
export { openEventLog } from './open-log.js';
export type { StoreReaderDeps } from './store-reader.js';
export { createStoreReader } from './store-reader.js';
