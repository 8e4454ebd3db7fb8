/**
 * Setup of each file: its tests run by the policy of the web page, and fail for every fault that the page shows: an
 * error or a warning in the console, a violation of the policy, a dialog. A request to another origin is a violation.
 */
import { afterEach, beforeAll, expect, inject, vi } from 'vitest';
import type {} from '../../support/browser/provided.js';
import { addFault, takeFaults } from './seen-faults.js';
import { hide } from './show.js';

for (const kind of ['error', 'warn'] as const)
  vi.spyOn(console, kind).mockImplementation((...texts: readonly unknown[]) => {
    addFault(`console ${kind}: ${texts.map(String).join(' ')}`);
  });
for (const kind of ['alert', 'confirm', 'prompt'] as const)
  Object.assign(globalThis, {
    [kind]: (text: unknown) => {
      addFault(`dialog: ${String(text)}`);
    },
  });
addEventListener('securitypolicyviolation', ({ effectiveDirective, blockedURI, sample }) => {
  addFault(`violation: ${effectiveDirective} ${blockedURI} ${sample}`);
});

beforeAll(() => {
  // Begins to hold here: the runner has loaded the file with its own inline scripts and styles.
  const meta = document.createElement('meta');
  meta.httpEquiv = 'Content-Security-Policy';
  // A document cannot forbid its own frame: only a header can, and the runner shows the page in one.
  meta.content = inject('pagePolicy').replace(/frame-ancestors [^;]*; /, '');
  document.head.append(meta);
});

afterEach(() => {
  hide();
  vi.useRealTimers();
  vi.unstubAllGlobals();
  sessionStorage.clear();
  localStorage.clear();
  expect(takeFaults()).toEqual([]);
});
