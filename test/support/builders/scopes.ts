/** Services and secrets of code under test. */
import type { SecretResolver } from '../../../src/define/services/secrets.js';
import { type CallContext, SILENT_LOGGER } from '../../../src/define/tool/context.js';
import { Scopes } from '../../../src/tools/scope/scopes.js';

export function scopesOf(services?: unknown, secrets?: SecretResolver): Scopes {
  return new Scopes({ services, secrets, logger: SILENT_LOGGER });
}

const absent = (): Promise<never> => Promise.reject(new Error('there is none'));

/** For contexts of code that uses no secrets. */
export const NO_SECRETS: Pick<CallContext, 'secret' | 'connection'> = {
  secret: absent,
  connection: absent,
};
