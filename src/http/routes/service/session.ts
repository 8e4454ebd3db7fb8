/** The caller's own identity, and sessions of pages: a cookie in place of a token, which scripts cannot read. */
import type { Request, Router } from 'express';
import { ConversationError } from '../../../client/api/errors.js';
import { identityOf } from '../../identity/callers.js';
import {
  MAX_COOKIE_CHARS,
  MAX_SESSION_MS,
  sessionCookieOf,
  sessionCookieOptions,
} from '../../identity/session.js';
import type { AppDeps } from '../../request/deps.js';
import { parseBody, parseQuery } from '../../request/parse.js';
import { addRoute } from '../../request/router.js';
import { NoBodySchema } from '../../schemas/bodies.js';
import { NoQuerySchema } from '../../schemas/queries.js';

export function addSessionRoutes(router: Router, { tokens }: Pick<AppDeps, 'tokens'>): void {
  addRoute(router, '/v1/session', {
    get: (request, response) => {
      parseQuery(NoQuerySchema, request);
      response.json(identityOf(request));
    },
    post: (request, response) => {
      check(request);
      if (tokens === undefined)
        throw new ConversationError('not_found', 'No secret for sessions is configured');
      const identity = identityOf(request);
      const expiresAt = sessionEnd(identity.expiresAt);
      const token = tokens.sign({ ...identity, expiresAt });
      if (token.length > MAX_COOKIE_CHARS)
        throw new ConversationError('forbidden', 'The identity is too large for a cookie');
      response.cookie(sessionCookieOf(request), token, {
        ...sessionCookieOptions(request),
        expires: expiresAt,
      });
      response.json({ ...identity, expiresAt });
    },
    delete: (request, response) => {
      check(request);
      response.clearCookie(sessionCookieOf(request), sessionCookieOptions(request));
      response.status(204).end();
    },
  });
}

function check(request: Request): void {
  parseQuery(NoQuerySchema, request);
  parseBody(NoBodySchema, request);
}

/** A session never outlives the identity that began it. */
function sessionEnd(expiresAt: Date | undefined): Date {
  const latest = Date.now() + MAX_SESSION_MS;
  return new Date(Math.min(latest, expiresAt?.getTime() ?? latest));
}
