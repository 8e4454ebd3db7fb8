/** Entry `colloquy/log`: read conversations from the event log, in any process that can reach it. */

export { ownIdentity as storeIdentity } from '../client/store-identity/identity.js';
export { openFolderBlobStore } from '../store/blobs-folder.js';
export type {
  BlobContent,
  BlobListOptions,
  BlobRange,
  BlobRead,
  BlobStore,
  StoredBlob,
} from '../store/blobs-port.js';
export type { LiveChannel } from '../store/live-port.js';
export type { CallLeases, EventLog } from '../store/port.js';
export { StoreUnavailable } from '../store/port.js';
export type { LogOptions } from './client-options.js';
export { clientOptionsFrom } from './client-options.js';
export { createDeletions } from './deletions.js';
export { createHolders } from './holders.js';
export type { BlobChoice, EventLogChoice, OpenLog, PostgresChoice } from './open-log.js';
export { openEventLog } from './open-log.js';
export type { StoreReaderDeps } from './store-reader.js';
export { createStoreReader } from './store-reader.js';
export type { WorkflowSource } from './workflow-source.js';
export { createWorkflowSource } from './workflow-source.js';
