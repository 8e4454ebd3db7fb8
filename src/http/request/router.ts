/** Routes as a table: one handler per path and method. Every other method is answered 405 with `Allow`. */
import type { NextFunction, Request, Response, Router } from 'express';
import { ConversationError } from '../../client/api/errors.js';
import { identityOf, requireRight } from '../identity/callers.js';
import { OPERATIONS, type Operation } from '../openapi/rows/operations.js';
import { parseQuery } from './parse.js';
import { sendProblem } from './problem.js';

export type Method = 'get' | 'post' | 'delete';
export type Handler = (request: Request, response: Response) => Promise<void> | void;

type Handlers = Partial<Readonly<Record<Method, Handler>>>;

interface Meant extends Handlers {
  /** Requests that the route serves; the others are for later routes that match the path. @defaultValue all */
  readonly isMeant?: ((request: Request) => boolean) | undefined;
}

/**
 * Adds the handlers of one path, each behind the right and the query of its row in the description: a handler parses
 * its query again only for the values. A rejection reaches the problem handler, because express 5 awaits what handlers
 * return.
 * @throws Error for a route without a row
 */
export function addRoute(router: Router, path: string, { isMeant, ...handlers }: Meant): void {
  const guarded = Object.entries(handlers).map(([method, handler]) => {
    const row = OPERATIONS.find((row) => row.method === method && row.path === path);
    if (row === undefined)
      throw new Error(`${method} ${path} has no row in OPERATIONS, so no right is known for it`);
    return [
      method,
      (request, response) => {
        requireAccess(request, row);
        if (row.query !== undefined) parseQuery(row.query, request);
        return handler(request, response);
      },
    ] as const satisfies readonly [string, Handler];
  });
  addUnguarded(router, path, { ...Object.fromEntries(guarded), isMeant });
}

/** @throws {ConversationError} unauthenticated, or forbidden naming what the caller lacks */
export function requireAccess(
  request: Request,
  { path, right, bound }: Pick<Operation, 'path' | 'right' | 'bound'>,
): void {
  if (right === 'open') return;
  if (right !== 'any') requireRight(request, right);
  const { conversation } = identityOf(request);
  // A route of one conversation gets it from `keyOf`, which refuses all but the caller's.
  if (conversation === undefined || bound === true || path.startsWith(ONE_CONVERSATION)) return;
  const message = 'The caller may use one conversation only, and this route is not about one';
  throw new ConversationError('forbidden', message);
}

const ONE_CONVERSATION = '/v1/conversations/:id';

/** Adds handlers that the description does not have. The caller guards them. */
export function addUnguarded(router: Router, path: string, { isMeant, ...handlers }: Meant): void {
  const route = router.route(path);
  if (isMeant !== undefined)
    route.all((request: Request, _response: Response, next: NextFunction) => {
      if (isMeant(request)) next();
      else next('route');
    });
  const allowed = Object.keys(handlers).flatMap((method) =>
    method === 'get' ? ['GET', 'HEAD'] : [method.toUpperCase()],
  );
  if (handlers.get !== undefined) route.get(handled(handlers.get));
  if (handlers.post !== undefined) route.post(handled(handlers.post));
  if (handlers.delete !== undefined) route.delete(handled(handlers.delete));
  const allow = [...allowed, 'OPTIONS'].join(', ');
  route.all((request: Request, response: Response) => {
    response.setHeader('Allow', allow);
    if (request.method === 'OPTIONS') {
      response.status(204).end();
      return;
    }
    const error = new ConversationError(
      'method_not_allowed',
      `${request.method} is not possible on ${request.baseUrl}${request.path}. Allowed: ${allow}`,
    );
    sendProblem(response, error);
  });
}

function handled(handler: Handler) {
  return async (request: Request, response: Response, _next: NextFunction): Promise<void> => {
    await handler(request, response);
  };
}
