/**
 * The web page under `/ui`. Its files hold no data and need no identity: the page signs in, and sends the token with each
 * request to the API. So these routes are no operations of the API, and its description does not have them.
 */
import { type Request, type Response, Router } from 'express';
import { ConversationError } from '../../client/api/errors.js';
import { addUnguarded } from '../request/router.js';
import { type PageFile, type PageFiles, readPage } from './files.js';

/** Everything comes from the origin of the page, no text can become code, and no other page can show it in a frame. */
const POLICY = [
  "default-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "object-src 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');
/** The names of assets hold a digest of their content. */
const FOREVER = 'public, max-age=31536000, immutable';
const INDEX = 'index.html';
/** The addresses of the page's faces, as `web/shared/places.ts` reads them. */
const PLACES = [
  '/ui/inbox',
  '/ui/conversations',
  '/ui/conversations/:conversation',
  '/ui/chat',
  '/ui/chat/:agent',
  '/ui/chat/:agent/:conversation',
  '/ui/operations',
];

/** Must stand before the check of identities. The files are read at the first request. */
export function uiRouter(read: () => Promise<PageFiles> = readPage): Router {
  const router = Router();
  let reading: Promise<PageFiles> | undefined;
  const fileOf = async (path: string): Promise<PageFile> => {
    reading ??= read().catch((error: unknown) => {
      reading = undefined;
      throw error;
    });
    const files = await reading;
    const file = files.get(path);
    if (file !== undefined) return file;
    const what = files.size === 0 ? 'The web page has not been built' : `No file ${path}`;
    throw new ConversationError('not_found', what);
  };
  addUnguarded(router, '/ui', {
    get: (_request, response) => {
      response.redirect(307, '/ui/inbox');
    },
  });
  for (const place of PLACES)
    addUnguarded(router, place, {
      get: async (request, response) => {
        const file = await fileOf(INDEX);
        response.setHeader('Content-Security-Policy', POLICY);
        // The header of older browsers, which do not know frame-ancestors.
        response.setHeader('X-Frame-Options', 'DENY');
        send(request, response, file);
      },
    });
  addUnguarded(router, '/ui/assets/:file', {
    get: async (request, response) => {
      const file = await fileOf(`assets/${String(request.params['file'])}`);
      response.setHeader('Cache-Control', FOREVER);
      send(request, response, file);
    },
  });
  return router;
}

/** The other headers are those of every answer: `nosniff`, no referrer, `no-store` where no other rule is set. */
function send(request: Request, response: Response, { type, body, gzipped }: PageFile): void {
  response.setHeader('Content-Type', type);
  response.setHeader('Vary', 'Accept-Encoding');
  const isPacked = request.acceptsEncodings('gzip', 'identity') === 'gzip';
  if (isPacked) response.setHeader('Content-Encoding', 'gzip');
  response.end(isPacked ? gzipped : body);
}
