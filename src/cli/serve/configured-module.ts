/** Modules of the application that a setting names. */
import { resolve } from 'node:path';
import { importModule } from '../process/agents-module.js';
import { ConfigError } from '../process/config.js';

/** @throws {ConfigError} naming the variable, the file and the place of the error */
export async function importConfigured(
  path: string,
  variable: string,
): Promise<{ readonly file: string; readonly exported: Readonly<Record<string, unknown>> }> {
  const file = resolve(path);
  const exported = await importModule(file, (reason, options) => {
    return new ConfigError(`${variable}: cannot load ${file}: ${reason}`, options);
  });
  return { file, exported };
}
