/** Routes as a table: one handler per path and method. Every other method is answered 405 with `Allow`. */
import type { NextFunction, Request, Response, Router } from 'express';
import { ConversationError } from '../../client/api/errors.js';
import { sendProblem } from './problem.js';

export type Method = 'get' | 'post' | 'delete';
export type Handler = (request: Request, response: Response) => Promise<void> | void;

/**
 * Adds the handlers of one path. A rejection reaches the problem handler, because express 5 awaits what handlers
 * return.
 */
export function addRoute(
  router: Router,
  path: string,
  handlers: Partial<Readonly<Record<Method, Handler>>>,
): void {
  const route = router.route(path);
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
