/** Finds out which operation a request is for before it is routed. */
import type { Operation } from './rows/operation.js';

/** Whether a request is for one of these operations, by the rules of the router: any case, and `/` at the end or not. */
export function isAnyOf(
  operations: readonly Operation[],
): (request: { readonly method: string; readonly path: string }) => boolean {
  const places = operations.map(({ method, path }) => ({
    method: method.toUpperCase(),
    path: new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/:\w+/g, '[^/]+')}/?$`, 'i'),
  }));
  return ({ method, path }) =>
    places.some((place) => place.method === method && place.path.test(path));
}
