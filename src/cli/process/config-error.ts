/** The settings of a command are wrong. The message names the variable or option. */
export class ConfigError extends Error {
  readonly code = 'invalid_configuration';
}
