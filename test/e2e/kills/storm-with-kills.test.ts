/** A short storm; `npm run storm` runs one for any time. `STORM_SEED=123` repeats the faults of a run. */
import { describe, expect, it } from 'vitest';
import { isCalm, noFindings, textOf } from '../../storm/report.js';
import { runStorm } from '../../storm/storm.js';
import { patient } from '../../support/patience.js';
import { promise } from '../../support/promise.js';

const SEED = Number(process.env['STORM_SEED'] ?? Date.now() % 100_000);

describe(`a storm (seed ${SEED})`, () => {
  it('of queries from outside, killed and frozen workers, roll-overs and evictions leaves only histories that replay', {
    ...promise('G15'),
    timeout: patient(600_000),
  }, async () => {
    const report = await runStorm({ seed: SEED, minutes: 0.5, load: 0, lanes: 4 });
    const text = textOf(report);
    expect(report.findings, text).toEqual(noFindings());
    expect(isCalm(report), text).toBe(true);
  });
});
