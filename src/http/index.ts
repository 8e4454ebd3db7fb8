/** Entry point `colloquy/http`: the API as an express app, and a server for it. */
export { startWatchdog, type Watchdog, type WatchdogOptions } from '../watchdog/watchdog.js';
export { createApp } from './app.js';
export { type HttpServer, ListenError, type ServeOptions, serve } from './listen.js';
export { ApiMetrics } from './metrics/api-metrics.js';
export { type OpenApiDocument, openApiDocument } from './openapi/document.js';
export type { CorsOptions } from './request/cors.js';
export type { AppDeps, ConversationLister, HealthCheck } from './request/deps.js';
export { AUTH_NOTICE } from './routes/health.js';
