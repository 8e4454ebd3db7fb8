/** Deadlines of answers, by the time that answers take at the moment. */
import { describe, expect, it } from 'vitest';
import { Pace } from '../../../../src/client/pacing/pace.js';
import {
  MAX_UPDATE_DEADLINE_MS,
  UPDATE_DEADLINE_MS,
} from '../../../../src/protocol/limits/service-limits.js';
import { promise } from '../../../support/promise.js';

describe('the deadline of an answer', () => {
  it('is the usual one where answers are fast, and where none has ever come', () => {
    const pace = new Pace();
    expect(pace.budgetMs(0)).toBe(UPDATE_DEADLINE_MS);
    for (let nth = 0; nth < 10; nth += 1) pace.answered(40, nth * 100);
    expect(pace.budgetMs(1_000)).toBe(UPDATE_DEADLINE_MS);
    const alone = new Pace();
    for (let nth = 0; nth < 10; nth += 1) alone.missed(UPDATE_DEADLINE_MS);
    expect(alone.budgetMs(1_000)).toBe(UPDATE_DEADLINE_MS);
  });

  it('grows with slow answers, and never beyond the time that a proxy waits', () => {
    const pace = new Pace();
    pace.answered(2_800, 0);
    expect(pace.budgetMs(100)).toBe(4_200);
    pace.answered(4_000, 5_000);
    expect(pace.budgetMs(5_100)).toBe(6_000);
    pace.answered(11_000, 17_000);
    expect(pace.budgetMs(17_100)).toBe(MAX_UPDATE_DEADLINE_MS);
  });

  it('grows with requests that were given up while others were answered, until those are answered, too', {
    ...promise('G26'),
  }, () => {
    const pace = new Pace();
    pace.answered(500, 0);
    const budgets: number[] = [];
    for (let nth = 0; nth < 5; nth += 1) {
      const budget = pace.budgetMs(1_000);
      budgets.push(budget);
      pace.missed(budget);
    }
    expect(budgets).toEqual([3_000, 4_500, 6_750, 10_125, MAX_UPDATE_DEADLINE_MS]);
  });

  it('is the usual one again a few fast answers later, or half a minute after the last worker has answered', () => {
    const pace = new Pace();
    pace.answered(8_000, 0);
    for (let nth = 0; nth < 5; nth += 1) pace.answered(50, 100);
    expect(pace.budgetMs(200)).toBe(UPDATE_DEADLINE_MS);
    pace.answered(8_000, 1_000);
    expect(pace.budgetMs(30_000)).toBe(MAX_UPDATE_DEADLINE_MS);
    expect(pace.budgetMs(31_001)).toBe(UPDATE_DEADLINE_MS);
  });
});
