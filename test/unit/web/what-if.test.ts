/** A what-if in words. */
import { expect, it } from 'vitest';
import type {
  ListedWhatIf,
  WhatIfCancelled,
  WhatIfReport,
} from '../../../src/browser/studio/index.js';
import { whatIfCancelledWords, whatIfEndWords } from '../../../web/studio/model/what-if.js';

const USAGE = { inputTokens: 1, outputTokens: 1 };
const ABOUT = {
  ...{ whatIfId: 'w', conversationId: 'c1', turnId: 't', generation: 1, agent: 'support' },
} as const;
const STEP = { step: 1, compared: 'same', answer: { text: 'Done.', calls: [] } } as const;
const call = { step: 2, name: 'refund', arguments: '{"cents":1}' } as const;

const LISTED = { ...ABOUT, begunAt: '2026-01-01T00:00:00Z', endedAt: '2026-01-01T00:00:01Z' };

it.each<readonly [WhatIfReport | ListedWhatIf, string]>([
  [{ ...ABOUT, state: 'running' }, 'Asks the model …'],
  [{ ...ABOUT, state: 'running', warning: 'No worker is up' }, 'No worker is up'],
  [
    { ...ABOUT, state: 'ended', reason: 'answered', steps: [STEP], usage: USAGE },
    'Ended after one step.',
  ],
  [
    { ...ABOUT, state: 'ended', reason: 'max_steps', steps: [STEP, STEP], usage: USAGE },
    'Stopped after 2 steps, the most that were allowed.',
  ],
  [
    {
      ...{ ...ABOUT, state: 'diverged', steps: [STEP], usage: USAGE },
      diverged: { ...call, reason: 'not_recorded' },
    },
    'Diverged at step 2: refund {"cents":1}: nothing is recorded for it.',
  ],
  [
    {
      ...{ ...ABOUT, state: 'diverged', steps: [STEP], usage: USAGE },
      diverged: { ...call, reason: 'no_result' },
    },
    'Diverged at step 2: refund {"cents":1}: its recorded call has no result.',
  ],
  [
    {
      ...{ ...ABOUT, state: 'failed', steps: [], usage: USAGE },
      error: { code: 'model_not_found', message: 'No such model' },
    },
    'Failed (model_not_found): No such model',
  ],
  [{ ...ABOUT, state: 'cancelled', steps: [STEP, STEP], usage: USAGE }, 'Cancelled after 2 steps.'],
  [
    { ...ABOUT, state: 'cancelled', steps: [], usage: USAGE },
    'Cancelled before its first step ended.',
  ],
  [{ ...LISTED, state: 'cancelled', stepCount: 1, usage: USAGE }, 'Cancelled after one step.'],
  [
    { ...LISTED, state: 'ended', reason: 'answered', stepCount: 2, usage: USAGE },
    'Ended after 2 steps.',
  ],
])('%o is said in words', (report, words) => {
  expect(whatIfEndWords(report)).toBe(words);
});

it.each<readonly [WhatIfCancelled, string]>([
  [{ whatIfId: 'w', status: 'stopping' }, 'Its model call is being stopped.'],
  [{ whatIfId: 'w', status: 'stopping', warning: 'No worker is up' }, 'No worker is up'],
  [{ whatIfId: 'w', status: 'over', state: 'ended' }, 'It had already ended.'],
  [{ whatIfId: 'w', status: 'over', state: 'cancelled' }, 'It was cancelled before.'],
])('the verdict %o on a cancel is said in words', (outcome, words) => {
  expect(whatIfCancelledWords(outcome)).toBe(words);
});
