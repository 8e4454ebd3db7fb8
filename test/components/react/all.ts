/** The tests of colloquy/react, for each version of React that it works with. */
import { describe } from 'vitest';
import { approvalTests } from './approvals.js';
import type { ReactVersion } from './chat.js';
import { clientToolTests } from './client-tools.js';
import { formTests } from './forms.js';
import { hookTests } from './hooks.js';
import { nestedTests } from './nested.js';
import { queuedTests } from './queued.js';

export function reactTests(version: ReactVersion): void {
  describe(`with React ${version}`, () => {
    approvalTests(version);
    queuedTests(version);
    formTests(version);
    hookTests();
    clientToolTests(version);
    nestedTests();
  });
}
