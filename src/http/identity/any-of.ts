/** Several schemes together. */
import type { Identify } from './identity.js';
import { forDevelopment, isForDevelopment } from './identity.js';

/**
 * Asks the schemes in their order; the first that knows the sender counts. With a scheme for development among them, the
 * whole is for development. @throws {RangeError} without a scheme
 */
export function anyOf(...schemes: readonly Identify[]): Identify {
  if (schemes.length === 0) throw new RangeError('anyOf needs a scheme');
  const identify: Identify = async (request) => {
    for (const scheme of schemes) {
      const identity = await scheme(request);
      if (identity !== undefined) return identity;
    }
    return undefined;
  };
  return schemes.some(isForDevelopment) ? forDevelopment(identify) : identify;
}
