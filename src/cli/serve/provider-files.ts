/** The owners of files at a model's provider, by a module of the application. */
import type { ProviderFiles } from '../../http/identity/provider-files.js';
import { isRecord } from '../../protocol/values/json.js';
import { type Config, ConfigError } from '../process/config.js';
import { importConfigured } from './configured-module.js';

const VARIABLE = 'COLLOQUY_PROVIDER_FILES (--provider-files)';

/**
 * The option of the API; none where no module is configured. An answer of `owns` that is neither true nor false is an
 * error, so that it lets no request in.
 * @throws {ConfigError} naming the variable and the file
 */
export async function configuredFiles({
  providerFiles: path,
}: Pick<Config, 'providerFiles'>): Promise<{ readonly providerFiles?: ProviderFiles }> {
  if (path === undefined) return {};
  const { file, exported } = await importConfigured(path, VARIABLE);
  const { providerFiles: given } = exported;
  if (!isProviderFiles(given))
    throw new ConfigError(
      `${VARIABLE}: ${file} must export "providerFiles", an object with a function "owns"`,
    );
  return {
    providerFiles: {
      owns: async (asked) => {
        const answer: unknown = await given.owns(asked);
        if (typeof answer === 'boolean') return answer;
        throw new TypeError(`owns() of ${file} must answer true or false, got ${typeof answer}`);
      },
    },
  };
}

function isProviderFiles(value: unknown): value is ProviderFiles {
  return isRecord(value) && typeof value['owns'] === 'function';
}
