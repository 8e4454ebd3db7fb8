/** A short storm of forks; `npm run storm:forks` runs one of any length. `STORM_SEED=123` draws other conversations. */
import { expect, it } from 'vitest';
import { runForkStorm } from '../../fork-storm/fork-storm.js';
import { isClean, noForkFindings, textOf } from '../../fork-storm/report.js';
import { patient } from '../../support/patience.js';
import { promise } from '../../support/promise.js';

const SEED = Number(process.env['STORM_SEED'] ?? 4_242);

it('random conversations are forked at random places and exported as tests, and everything holds', {
  ...promise('G385', 'G386'),
  timeout: patient(300_000),
}, async () => {
  const report = await runForkStorm({ seed: SEED, conversations: 10, lanes: 4, exports: 3 });
  const text = textOf(report);
  expect(report.findings, text).toEqual(noForkFindings());
  expect(isClean(report), text).toBe(true);
});
