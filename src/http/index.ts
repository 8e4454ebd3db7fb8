/** Entry point `colloquy/http`: the API as an express app, and a server for it. */

export { type Spaces, type SpacesDeps, spacesFrom } from '../spaces/service.js';
export { startWatchdog, type Watchdog, type WatchdogOptions } from '../watchdog/watchdog.js';
export { createApp } from './app.js';
export { anyOf } from './identity/any-of.js';
export {
  apiKeys,
  createKey,
  type MintedKey,
  type NewKey,
  revokeKey,
  rotateKey,
} from './identity/api-keys.js';
export { identityOf } from './identity/callers.js';
export {
  type DevelopmentOptions,
  type DevelopmentSecret,
  developmentIdentity,
  developmentSecret,
} from './identity/development.js';
export {
  forDevelopment,
  type Identify,
  type Identity,
  RIGHTS,
  type Right,
} from './identity/identity.js';
export { type JwtClaims, type JwtOptions, jwtIdentity } from './identity/jwt.js';
export type { ProviderFile, ProviderFiles } from './identity/provider-files.js';
export { type TokenSigner, tokenSigner } from './identity/tokens.js';
export { type HttpServer, ListenError, type ServeOptions, serve } from './listen.js';
export { ApiMetrics } from './metrics/api-metrics.js';
export { type OpenApiDocument, openApiDocument } from './openapi/document.js';
export type { CorsOptions } from './request/cors.js';
export type { AppDeps, ConversationLister, HealthCheck, RoutesContext } from './request/deps.js';
