/** The identity of the callers of tests that are not about identity: it may do everything, and proves nothing. */
import { forDevelopment, type Identity, RIGHTS } from '../../../src/http/identity/identity.js';

export const TESTING: Identity = {
  tenants: ['default'],
  actor: { id: 'anonymous' },
  verified: false,
  rights: RIGHTS,
};

/** For `createApp`: every request has the identity, without any credentials. */
export const identifyAll = forDevelopment(() => TESTING);
