/** Identifies the sender of every request, before its body is read. */
import type { Request, RequestHandler, Response } from 'express';
import { ConversationError } from '../../client/api/errors.js';
import { identityOf, rememberIdentity } from './callers.js';
import { checkIdentity, type Identify, type Identity, isExpired } from './identity.js';
import { bearerOf, cookieOf } from './secrets.js';
import { sessionCookieOf } from './session.js';
import { TOKEN_PREFIX, type TokenSigner } from './tokens.js';

export interface Schemes {
  readonly identify: Identify;
  /** Absent: no signed tokens, and no sessions. */
  readonly tokens?: TokenSigner;
}

/**
 * Refuses requests without an identity, but those to open paths, and those by which a browser asks whether it may send
 * another: they carry no credentials, and no answer to them has data.
 */
export function identifyCallers(
  schemes: Schemes,
  isOpen: (path: string) => boolean,
): RequestHandler {
  return async (request, response, next) => {
    if (request.method !== 'OPTIONS' && !isOpen(request.path)) {
      const identity = await identityFor(schemes, request, response);
      if (identity === undefined)
        throw new ConversationError('unauthenticated', 'The request has no valid credentials');
      rememberIdentity(request, identity);
    }
    next();
  };
}

/**
 * A token in the header counts before the cookie of a session. @throws {ConversationError} origin_not_allowed for a
 * change by a session that does not say from which page it comes
 */
export async function identityFor(
  { identify, tokens }: Schemes,
  request: Request,
  response: Response,
): Promise<Identity | undefined> {
  const bearer = bearerOf(request);
  if (bearer?.startsWith(TOKEN_PREFIX) === true && tokens !== undefined)
    return tokens.verify(bearer);
  if (request.get('authorization') === undefined && tokens !== undefined) {
    const session = tokens.verify(cookieOf(request, sessionCookieOf(identify)) ?? '');
    if (session !== undefined) {
      requireOrigin(request, response);
      return session;
    }
  }
  const identity = await identify(request);
  if (identity === undefined || isExpired(identity)) return undefined;
  checkIdentity(identity);
  return identity;
}

/**
 * Refuses a change by a session that comes from another page than the API's own. Pages of other origins have been
 * refused before, but those that CORS lets in: these may use the cookie only where CORS allows credentials. Every
 * browser sends one of the headers with a change; a request with neither may come from one that is too old.
 */
function requireOrigin(request: Request, response: Response): void {
  if (request.method === 'GET' || request.method === 'HEAD') return;
  const { origin, 'sec-fetch-site': site } = request.headers;
  const isNamed = origin !== undefined || site !== undefined;
  const isByCors =
    site !== 'same-origin' && response.getHeader('access-control-allow-origin') === origin;
  const allowsCookies = response.getHeader('access-control-allow-credentials') === 'true';
  if (isNamed && (origin === undefined || !isByCors || allowsCookies)) return;
  const message = isNamed
    ? 'must be the origin of the API for a change by the cookie of a session'
    : 'must be sent with a change by the cookie of a session';
  throw new ConversationError('origin_not_allowed', `Origin ${message}`, {
    problems: [{ path: 'Origin', message }],
  });
}

/** Whether the credentials of a request still identify the same caller, who may do and answer no less than before. */
export async function isSameCaller(schemes: Schemes, request: Request): Promise<boolean> {
  const before = identityOf(request);
  const { res } = request;
  const now = res === undefined ? undefined : await identityFor(schemes, request, res as Response);
  if (now === undefined || now.actor.id !== before.actor.id) return false;
  const keeps = (had: readonly string[] = [], has: readonly string[] = []): boolean =>
    had.every((one) => has.includes(one));
  return (
    now.conversation === before.conversation &&
    (now.verified || !before.verified) &&
    keeps(before.actor.roles, now.actor.roles) &&
    keeps(before.rights, now.rights) &&
    keeps(before.tenants, now.tenants)
  );
}
