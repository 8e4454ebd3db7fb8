/** The claim timeout and the progress of holders, as a definition may declare them. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineTool } from '../../../../src/define/define-tool.js';
import { toolFaults as faultsOf } from './faults.js';

const base = { name: 'cart.read', description: 'Reads the cart.', input: z.object({}) };
const run = (): string => 'done';

describe('timeouts.claim', () => {
  const graceOf = (spec: object): number | undefined =>
    defineTool({ ...base, executor: 'client', ...spec }).timeouts.claimMs;

  it('is 15 seconds for client calls, and never longer than the wait', () => {
    expect(graceOf({})).toBe(15_000);
    expect(graceOf({ timeouts: { answer: '5s' } })).toBe(5_000);
    expect(graceOf({ timeouts: { claim: '1 minute' } })).toBe(60_000);
  });

  it("is the tool's own for detached calls and other backends, else there is none", () => {
    expect(graceOf({ mode: 'detach' })).toBeUndefined();
    expect(graceOf({ mode: 'detach', timeouts: { claim: '1h' } })).toBe(3_600_000);
    expect(graceOf({ executor: 'external' })).toBeUndefined();
    expect(graceOf({ executor: 'external', timeouts: { claim: '9s' } })).toBe(9_000);
  });
});

describe('a definition', () => {
  const illegal: readonly [title: string, spec: unknown, field: string, rule: RegExp][] = [
    [
      'a claim of a human tool',
      { ...base, executor: 'human', timeouts: { claim: '1s' } },
      'timeouts.claim',
      /does not apply to human/,
    ],
    [
      'a claim of a server tool',
      { ...base, timeouts: { claim: '1s' }, run },
      'timeouts.claim',
      /does not apply to server/,
    ],
    [
      'a grace for claims that is longer than the wait',
      { ...base, executor: 'client', timeouts: { claim: '3 minutes' } },
      'timeouts.claim',
      /at most timeouts.answer \(120000 ms\), got "3 minutes"/,
    ],
    [
      'a grace for claims that is no duration',
      { ...base, executor: 'external', timeouts: { claim: 'soon' } },
      'timeouts.claim',
      /got "soon"/,
    ],
    [
      'progress of people',
      { ...base, executor: 'human', streaming: true },
      'streaming',
      /does not apply to human/,
    ],
  ];
  it.each(illegal)('may not have %s', (_title, spec, field, rule) => {
    expect(faultsOf(spec)[field]).toMatch(rule);
  });
});
