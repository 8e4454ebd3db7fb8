/** Loads the routes of an application: a module that exports `routes`, a function that makes an Express router. */
import { resolve } from 'node:path';
import type { MakeRoutes } from '../../engine/open-colloquy.js';
import { importModule } from '../process/agents-module.js';

export class RoutesModuleError extends Error {
  readonly code = 'invalid_routes_module';
}

/**
 * @throws {RoutesModuleError} when the module cannot be loaded or exports no function `routes`; from that function when
 * it fails, or makes no handler
 */
export async function loadRoutes(path: string): Promise<MakeRoutes> {
  const file = resolve(path);
  const { routes } = await importModule(file, (reason, options) => {
    return new RoutesModuleError(`Cannot load routes from ${file}: ${reason}`, options);
  });
  if (!isMaker(routes))
    throw new RoutesModuleError(
      `${file} must export routes, a function that makes an Express router: export const routes = ({ colloquy, identify, signal }) => router`,
    );
  return (context) => {
    let handler: unknown;
    try {
      handler = routes(context);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new RoutesModuleError(`routes() of ${file} failed: ${reason}`, { cause: error });
    }
    if (isHandler(handler)) return handler;
    throw new RoutesModuleError(`routes() of ${file} must return an Express router`);
  };
}

function isMaker(value: unknown): value is (context: Parameters<MakeRoutes>[0]) => unknown {
  return typeof value === 'function';
}

function isHandler(value: unknown): value is ReturnType<MakeRoutes> {
  return typeof value === 'function';
}
