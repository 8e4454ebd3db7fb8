/** Identifies the sender of every request, before its body is read. */
import type { Request, RequestHandler } from 'express';
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
  return async (request, _response, next) => {
    if (request.method !== 'OPTIONS' && !isOpen(request.path)) {
      const identity = await identityFor(schemes, request);
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
): Promise<Identity | undefined> {
  const bearer = bearerOf(request);
  if (bearer?.startsWith(TOKEN_PREFIX) === true && tokens !== undefined)
    return tokens.verify(bearer);
  if (request.get('authorization') === undefined && tokens !== undefined) {
    const session = tokens.verify(cookieOf(request, sessionCookieOf(request)) ?? '');
    if (session !== undefined) {
      requireOrigin(request);
      return session;
    }
  }
  const identity = await identify(request);
  if (identity === undefined || isExpired(identity)) return undefined;
  checkIdentity(identity);
  return identity;
}

/**
 * Pages of other origins have been refused by these headers. Every browser sends one of them with a change; a request
 * with neither may come from one that is too old.
 */
function requireOrigin(request: Request): void {
  if (request.method === 'GET' || request.method === 'HEAD') return;
  const { origin, 'sec-fetch-site': site } = request.headers;
  if (origin !== undefined || site !== undefined) return;
  const message = 'must be sent with a change by the cookie of a session';
  throw new ConversationError('origin_not_allowed', `Origin ${message}`, {
    problems: [{ path: 'Origin', message }],
  });
}

/** Whether the credentials of a request still identify its caller, for its conversation and with the right to read. */
export async function isSameCaller(schemes: Schemes, request: Request): Promise<boolean> {
  const before = identityOf(request);
  const now = await identityFor(schemes, request);
  if (now === undefined || now.actor.id !== before.actor.id) return false;
  return (
    now.conversation === before.conversation &&
    before.rights.every((right) => now.rights.includes(right)) &&
    before.tenants.every((tenant) => now.tenants.includes(tenant))
  );
}
