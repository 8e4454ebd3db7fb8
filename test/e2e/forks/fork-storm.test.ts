/** A short storm of forks; `npm run storm:forks` runs a long one. `FORK_SEED=123` repeats its draws. */
import { expect, it } from 'vitest';
import { runForkStorm } from '../../fork-storm/fork-storm.js';
import { isClean, noForkFindings, textOf } from '../../fork-storm/report.js';
import { patient } from '../../support/patience.js';
import { promise } from '../../support/promise.js';

const SEED = Number(process.env['FORK_SEED'] ?? Date.now() % 100_000);

it(`random conversations, forked at random places, and exported as tests (seed ${SEED})`, {
  ...promise('G395', 'G396'),
  timeout: patient(240_000),
}, async () => {
  const report = await runForkStorm({ seed: SEED, conversations: 20, lanes: 6, exports: 10 });
  const text = textOf(report);
  expect(report.findings, text).toEqual(noForkFindings());
  expect(isClean(report), text).toBe(true);
});
