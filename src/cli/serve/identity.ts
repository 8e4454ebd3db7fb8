/** The identity of the API as the environment configures it. */
import type { OpenedColloquy } from '../../engine/options.js';
import { anyOf } from '../../http/identity/any-of.js';
import { apiKeys } from '../../http/identity/api-keys.js';
import { developmentIdentity, developmentSecret } from '../../http/identity/development.js';
import type { Schemes } from '../../http/identity/gate.js';
import { jwtIdentity } from '../../http/identity/jwt.js';
import { tokenSigner } from '../../http/identity/tokens.js';
import type { Config } from '../process/config.js';
import { DEVELOPMENT_NOTICE, secretText } from '../process/development.js';

export interface ConfiguredIdentity {
  readonly schemes: Schemes;
  /** For the first line that is printed. */
  readonly notice: string;
  /** Further lines. */
  readonly lines: readonly string[];
}

export function isDevelopment({ identity }: Pick<Config, 'identity'>): boolean {
  return identity.includes('development');
}

/** A store that has keys does not turn them on: only the setting does, so that nothing opens or closes by a command. */
export async function configuredIdentity(
  config: Config,
  { log }: Pick<OpenedColloquy, 'log'>,
): Promise<ConfiguredIdentity> {
  const keys = await log.apiKeys.list();
  const alive = keys.filter(({ revokedAt }) => revokedAt === undefined).length;
  if (isDevelopment(config)) {
    const kept = await developmentSecret(config.dataDir, config.devSecret);
    return {
      schemes: developmentIdentity({ secret: kept.secret, roles: config.devRoles }),
      notice: DEVELOPMENT_NOTICE,
      lines: [
        `secret  ${secretText(kept)}`,
        ...(alive === 0
          ? []
          : [`keys    ${alive} API keys are not in use. To use them: COLLOQUY_IDENTITY=keys`]),
      ],
    };
  }
  const withKeys = config.identity.includes('keys');
  const { jwt, tokenSecrets = [] } = config;
  const [first, ...others] = tokenSecrets;
  return {
    schemes: {
      identify: anyOf(
        ...(withKeys ? [apiKeys(log.apiKeys)] : []),
        ...(jwt === undefined ? [] : [jwtIdentity(jwt)]),
      ),
      ...(first === undefined ? {} : { tokens: tokenSigner([first, ...others]) }),
    },
    notice: `identity: ${config.identity.join(', ')}`,
    lines:
      withKeys && alive === 0
        ? ['keys    none yet. Make one: npx colloquy keys create --name <name> --right read,send']
        : [],
  };
}
