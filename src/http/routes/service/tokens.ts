/** Tokens for one conversation, for pages and others that get no more than that. */
import type { Request, Router } from 'express';
import { checkedMs } from '../../../client/api/checks.js';
import { ConversationError, invalidField } from '../../../client/api/errors.js';
import type { Duration } from '../../../protocol/values/durations.js';
import { actorOf, identityOf, requireRight } from '../../identity/callers.js';
import type { AppDeps } from '../../request/deps.js';
import { parseBody } from '../../request/parse.js';
import { addRoute } from '../../request/router.js';
import { keyOf } from '../../request/tenants.js';
import { MintTokenSchema } from '../../schemas/bodies.js';

const DEFAULT_MS = 3_600_000;
/** A token cannot be revoked, so it is short-lived. */
const MAX_MS = 4 * 3_600_000;

export function addTokenRoutes(router: Router, { tokens }: Pick<AppDeps, 'tokens'>): void {
  addRoute(router, '/v1/conversations/:id/tokens', {
    post: (request, response) => {
      const { tenant, conversationId: conversation } = keyOf(request);
      const { rights = ['read'], expiresIn, actor } = parseBody(MintTokenSchema, request);
      for (const right of rights) requireRight(request, right);
      const { id, name, roles, verified } = actorOf(request, actor);
      if (tokens === undefined)
        throw new ConversationError('not_found', 'No secret for tokens is configured');
      const expiresAt = endOf(request, expiresIn as Duration | undefined);
      const token = tokens.sign({
        tenants: [tenant],
        actor: {
          id,
          ...(name === undefined ? {} : { name }),
          ...(roles === undefined ? {} : { roles }),
        },
        ...{ verified, rights, conversation, expiresAt },
      });
      response.status(201).json({ token, conversation, rights, expiresAt });
    },
  });
}

/** Never after the end of the caller's own identity. */
function endOf(request: Request, expiresIn: Duration | undefined): Date {
  const asked = expiresIn === undefined ? DEFAULT_MS : checkedMs('expiresIn', expiresIn);
  if (asked <= 0 || asked > MAX_MS)
    throw invalidField('/expiresIn', `must be a duration of at most ${MAX_MS / 3_600_000} hours`);
  const latest = identityOf(request).expiresAt?.getTime() ?? Number.POSITIVE_INFINITY;
  return new Date(Math.min(Date.now() + asked, latest));
}
