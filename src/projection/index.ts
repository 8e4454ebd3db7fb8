/** Entry `colloquy/log`: read conversations from the event log, in any process that can reach it. */

export { ownIdentity as storeIdentity } from '../client/workers/identity.js';
export { openFolderBlobStore } from '../store/folder/blobs.js';
export type {
  BlobContent,
  BlobListOptions,
  BlobRange,
  BlobRead,
  BlobStore,
  StoredBlob,
} from '../store/ports/blobs.js';
export type { CallLeases } from '../store/ports/leases.js';
export type { LiveChannel } from '../store/ports/live.js';
export type { EventLog } from '../store/ports/log.js';
export { StoreUnavailable } from '../store/ports/log.js';
export type { SpaceStore } from '../store/ports/spaces/spaces.js';
export type { WebhookStore } from '../store/ports/webhooks.js';
export type { LogOptions } from './client-options.js';
export { clientOptionsFrom } from './client-options.js';
export { createDeletions } from './duties/deletions.js';
export { createLeases } from './duties/leases.js';
export { NotExportable } from './exports/recording.js';
export { type TestFileOptions, testFileOf } from './exports/test-file.js';
export type { StoreReaderDeps } from './reading/store-reader.js';
export { createStoreReader } from './reading/store-reader.js';
export type { BlobChoice, EventLogChoice, OpenLog, PostgresChoice } from './source/open-log.js';
export { openEventLog } from './source/open-log.js';
export type { WorkflowSource } from './source/workflow-source.js';
export { createWorkflowSource } from './source/workflow-source.js';
