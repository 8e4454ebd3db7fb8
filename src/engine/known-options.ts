/** The options that `openColloquy` and its calls know: a misspelt one would be lost silently. */
import type { FieldsOf } from '../protocol/values/field-problem.js';
import type { AppOptions, OpenOptions, ServedAgents } from './options.js';

export const OPEN_FIELDS: FieldsOf<OpenOptions> = {
  ...{ store: true, blobs: true, temporal: true, compression: true, retryForMs: true },
  ...{ logger: true, actor: true, channel: true, pageUrl: true, patience: true },
  ...{ searchAttributes: true, taskQueue: true, tenant: true },
};

export const SERVED_FIELDS: FieldsOf<ServedAgents<unknown>> = {
  ...{ agents: true, catalog: true, services: true, secrets: true, retention: true },
  ...{ apiUrls: true, audit: true, retryForMs: true, deployment: true, logger: true },
  ...{ webhooks: true, health: true, transcriptCacheBytes: true, shutdownGraceMs: true },
  ...{ sdkGuards: true, tuning: true },
};

export const APP_FIELDS: FieldsOf<AppOptions> = {
  ...{ identify: true, providerFiles: true, tokens: true, allowedHosts: true, cors: true },
  ...{ agents: true, ui: true, temporalUi: true, log: true, killWorker: true, health: true },
  ...{ limits: true, metrics: true, routes: true, heartbeatMs: true, codecOrigins: true },
};
