/** The routes of an application, by a module that exports `routes`: a function that makes an Express router. */
import type { MakeRoutes } from '../../engine/options.js';
import { type Config, ConfigError } from '../process/config.js';
import { importConfigured } from './configured-module.js';

const VARIABLE = 'COLLOQUY_ROUTES (--routes)';

/**
 * Undefined where no module is configured.
 * @throws {ConfigError} naming variable and file when the module cannot be loaded or exports no function `routes`; from
 * that function when it fails, or makes no handler
 */
export async function configuredRoutes({
  routes: path,
}: Pick<Config, 'routes'>): Promise<MakeRoutes | undefined> {
  if (path === undefined) return undefined;
  const { file, exported } = await importConfigured(path, VARIABLE);
  const { routes } = exported;
  if (!isFunction(routes))
    throw new ConfigError(
      `${VARIABLE}: ${file} must export "routes", a function that makes an Express router`,
    );
  return (context) => {
    let made: unknown;
    try {
      made = routes(context);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new ConfigError(`${VARIABLE}: routes() of ${file} failed: ${reason}`, { cause: error });
    }
    if (isFunction(made)) return made as ReturnType<MakeRoutes>;
    throw new ConfigError(`${VARIABLE}: routes() of ${file} must return an Express router`);
  };
}

function isFunction(value: unknown): value is (argument: object) => unknown {
  return typeof value === 'function';
}
