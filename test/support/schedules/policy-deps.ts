/** Arguments of policies besides the call, where a test plans calls without a worker. */
import type { PolicyDeps } from '../../../src/tools/shared/policy.js';

const quiet = (): void => undefined;

export const policyMeans: PolicyDeps = {
  agent: 'support',
  tenant: 'default',
  conversationId: 'c-1',
  turnId: 'turn_1',
  step: 1,
  requester: { id: 'ann', verified: true, channel: 'api' },
  results: [],
  states: {},
  services: undefined as never,
  logger: { debug: quiet, info: quiet, warn: quiet, error: quiet },
};
