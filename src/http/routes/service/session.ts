/** The caller's own identity, and sessions of pages: a cookie in place of a token, which scripts cannot read. */
import type { Request, Router } from 'express';
import { ConversationError } from '../../../client/api/errors.js';
import { isApiKey } from '../../identity/api-keys.js';
import { identityOf } from '../../identity/callers.js';
import {
  MAX_COOKIE_CHARS,
  MAX_SESSION_MS,
  sessionCookieOf,
  sessionCookieOptions,
} from '../../identity/session.js';
import type { AppDeps } from '../../request/deps.js';
import { parseBody } from '../../request/parse.js';
import { addRoute } from '../../request/router.js';
import { NoBodySchema } from '../../schemas/bodies.js';

export function addSessionRoutes(
  router: Router,
  { identify, tokens }: Pick<AppDeps, 'identify' | 'tokens'>,
): void {
  addRoute(router, '/v1/session', {
    get: (request, response) => {
      response.json(identityOf(request));
    },
    post: (request, response) => {
      check(request);
      if (tokens === undefined)
        throw new ConversationError('not_found', 'No secret for sessions is configured');
      // The cookie would live on for hours after the key is revoked.
      if (isApiKey(request))
        throw new ConversationError('forbidden', 'API keys are for services, and begin no session');
      const identity = identityOf(request);
      const expiresAt = sessionEnd(identity.expiresAt);
      const token = tokens.sign({ ...identity, expiresAt });
      if (token.length > MAX_COOKIE_CHARS)
        throw new ConversationError('forbidden', 'The identity is too large for a cookie');
      response.cookie(sessionCookieOf(identify), token, {
        ...sessionCookieOptions(identify),
        expires: expiresAt,
      });
      response.json({ ...identity, expiresAt });
    },
    delete: (request, response) => {
      check(request);
      response.clearCookie(sessionCookieOf(identify), sessionCookieOptions(identify));
      response.status(204).end();
    },
  });
}

function check(request: Request): void {
  parseBody(NoBodySchema, request);
}

/** A session never outlives the identity that began it. */
function sessionEnd(expiresAt: Date | undefined): Date {
  const latest = Date.now() + MAX_SESSION_MS;
  return new Date(Math.min(latest, expiresAt?.getTime() ?? latest));
}
