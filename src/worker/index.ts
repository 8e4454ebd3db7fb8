/** Entry `colloquy/worker`: run agents. Named exports only; adding one is adding to the public surface. */
export type { TemporalSettings } from '../client/temporal/connection.js';
export {
  connectClient,
  TemporalUnreachable,
  temporalSettings,
} from '../client/temporal/connection.js';
export type { BlobChoice, EventLogChoice } from '../projection/source/open-log.js';
export { openEventLog } from '../projection/source/open-log.js';
export type { WebhookEnvelope, WebhookEvent } from '../protocol/log/webhook-events.js';
export { startWatchdog, type Watchdog, type WatchdogOptions } from '../watchdog/watchdog.js';
export type { DeliverWebhook } from '../webhooks/attempt.js';
export type { ConfiguredEndpoint } from '../webhooks/endpoints.js';
export {
  createWebhookSender,
  type WebhookSender,
  type WebhookSenderOptions,
} from '../webhooks/sender.js';
export type { ColloquyWorker } from './create-worker.js';
export { createColloquyWorker } from './create-worker.js';
export type { ColloquyWorkerOptions, RetentionOptions, WorkerWebhooks } from './options.js';
export { ColloquyPlugin } from './plugin.js';
export { WorkflowStuck } from './sdk-workarounds/stuck-watch.js';
export { connectNative } from './temporal/connection.js';
export { MissingSearchAttributes, SEARCH_ATTRIBUTE_TYPES } from './temporal/search-attributes.js';
