/**
 * Setup of each file: its tests run by the policy of the web page, and fail for every fault that the page shows: an
 * error or a warning in the console, a violation of the policy, a dialog. A request to another origin is a violation.
 */
import { afterEach, beforeAll, expect, inject, vi } from 'vitest';
import type {} from '../../support/browser/provided.js';
import { createPolicy } from './policies.js';
import { addFault, takeFaults } from './seen-faults.js';
import { hide } from './show.js';

/** The name of a policy of trusted types, which the policy of the page refuses. */
const LAST = 'last';
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
  if (sample === LAST) return;
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

/** Resolves after the events of all violations until now: the queue of the page has one of its own behind them. */
async function violationsShown(): Promise<void> {
  await new Promise<void>((resolve) => {
    const listen = ({ sample }: SecurityPolicyViolationEvent): void => {
      if (sample !== LAST) return;
      removeEventListener('securitypolicyviolation', listen);
      resolve();
    };
    addEventListener('securitypolicyviolation', listen);
    expect(() => createPolicy(LAST)).toThrow(/disallowed/);
  });
}

afterEach(async () => {
  hide();
  vi.useRealTimers();
  vi.unstubAllGlobals();
  sessionStorage.clear();
  localStorage.clear();
  await violationsShown();
  expect(takeFaults()).toEqual([]);
});
