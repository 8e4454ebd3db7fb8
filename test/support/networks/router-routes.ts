/** The routes that the router of the app has. */
import type { Express } from 'express';

interface Layer {
  readonly route?: { readonly path: string; readonly methods: Readonly<Record<string, boolean>> };
  readonly handle?: { readonly stack?: readonly Layer[] };
}

/** Methods and paths of all routes, in no order: `post /v1/conversations`. A route answers other methods itself, by `_all`. */
export function routesIn(app: Express): readonly string[] {
  return routesOf((app as unknown as { router: { stack: readonly Layer[] } }).router.stack);
}

function routesOf(layers: readonly Layer[]): readonly string[] {
  return layers.flatMap(({ route, handle }) =>
    route === undefined
      ? routesOf(handle?.stack ?? [])
      : ['get', 'post', 'put', 'delete']
          .filter((method) => route.methods[method] === true)
          .map((method) => `${method} ${route.path}`),
  );
}
