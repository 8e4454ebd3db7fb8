/** CORS: pages of listed origins may read the API. All others get no header, and later middleware refuses them. */
import type { RequestHandler } from 'express';
import { invalidField } from '../../client/api/errors.js';

/** Pages that may use the API from another origin. */
export interface CorsOptions {
  /** `scheme://host:port`, as browsers send them; each by name. */
  readonly origins: readonly string[];
  /** Let browsers send cookies and client certificates along. @defaultValue false */
  readonly credentials?: boolean;
}

interface CorsRule extends CorsOptions {
  /** Methods of the routes at a path. */
  readonly methods: (path: string) => string;
  /** Headers that a page may send, where its browser names none. */
  readonly headers: string;
}

/** Headers of answers that scripts may read, besides those that they always may. */
const EXPOSED = 'Content-Range, ETag, Location, Retry-After, X-Request-Id';

/** @throws {ConversationError} invalid_request when an entry is no origin */
export function allowCors({ origins, credentials }: CorsOptions): RequestHandler {
  for (const [index, origin] of origins.entries())
    if (!URL.canParse(origin) || new URL(origin).origin !== origin)
      throw invalidField(
        `/cors/origins/${index}`,
        'must be an origin: scheme://host:port, with nothing behind',
      );
  return allowOrigins({
    origins,
    ...(credentials === undefined ? {} : { credentials }),
    methods: (path) => (isOfApi(path) ? 'GET, POST, DELETE' : 'GET, POST, PUT, PATCH, DELETE'),
    headers: 'content-type, idempotency-key, if-none-match, last-event-id, authorization',
  });
}

/** Other paths may be those of routes of the application. */
function isOfApi(path: string): boolean {
  return /^\/v1(?:\/|$)/i.test(path);
}

/** Must stand before the middleware that refuses pages of other sites. */
export function allowOrigins({ origins, credentials, methods, headers }: CorsRule): RequestHandler {
  return (request, response, next) => {
    const origin = request.get('origin');
    response.vary('Origin');
    if (origin === undefined || !origins.includes(origin)) {
      next();
      return;
    }
    response.setHeader('Access-Control-Allow-Origin', origin);
    if (credentials === true) response.setHeader('Access-Control-Allow-Credentials', 'true');
    response.setHeader('Access-Control-Allow-Methods', methods(request.path));
    response.setHeader('Access-Control-Expose-Headers', EXPOSED);
    response.setHeader(
      'Access-Control-Allow-Headers',
      request.get('access-control-request-headers') ?? headers,
    );
    // Chrome asks this about a page that is served from another machine.
    if (request.get('access-control-request-private-network') === 'true')
      response.setHeader('Access-Control-Allow-Private-Network', 'true');
    next();
  };
}
