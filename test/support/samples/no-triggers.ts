import type { Triggers } from '../../../src/protocol/triggers/triggers.js';

const none = (): Promise<never> => Promise.reject(new Error('the test has no triggers'));

/** The triggers of a tool's context in tests without any. */
export const NO_TRIGGERS: Triggers = {
  ...{ create: none, list: none, get: none, setNote: none },
  ...{ pause: none, resume: none, remove: none },
};
