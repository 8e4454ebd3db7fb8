/** How soon the loss of a worker is noticed, as a tool sets it. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineTool } from '../../../../src/index.js';
import { toolOptions } from '../../../../src/workflows/activities/schedule.js';
import { plannedCall } from '../../../support/builders/core-builders.js';
import { promise } from '../../../support/promise.js';
import { toolFaults } from './faults.js';

const base = { name: 'notes.search', description: 'Searches notes.', input: z.object({}) };
const run = (): string => 'done';

function heartbeatOf(over: Parameters<typeof plannedCall>[1]): unknown {
  return toolOptions(plannedCall('c', over)).heartbeatTimeout;
}

describe('the heartbeat of a tool', () => {
  it.each([
    ['1s', 'less than two seconds', /at least/],
    ['2 hours', 'more than an hour', /at most/],
    ['soon', 'no duration', /./],
  ])('of %s is refused: %s', (heartbeat, _why, rule) => {
    expect(toolFaults({ ...base, run, timeouts: { heartbeat } })['timeouts.heartbeat']).toMatch(
      rule,
    );
  });

  it.each(['2s', '30s', '1 hour'])('of %s is accepted', (heartbeat) => {
    expect(toolFaults({ ...base, run, timeouts: { heartbeat } })).toEqual({});
  });

  it.each(['human', 'external', 'internal'])('does not apply to %s tools', (executor) => {
    const faults = toolFaults({ ...base, executor, timeouts: { heartbeat: '5s' } });
    expect(faults['timeouts.heartbeat']).toMatch(/does not apply/);
  });

  it('is for client tools with code that runs in a worker', () => {
    const spec = { ...base, executor: 'client', timeouts: { heartbeat: '5s' } };
    expect(toolFaults(spec)['timeouts.heartbeat']).toMatch(/preflight/);
    expect(toolFaults({ ...spec, preflight: run })).toEqual({});
  });

  it('stands in the timeouts of its calls, where the tool sets one', promise('G9'), () => {
    const slow = defineTool({ ...base, run, timeouts: { heartbeat: '1 minute' } });
    expect(slow.timeouts.heartbeatMs).toBe(60_000);
    expect(defineTool({ ...base, run }).timeouts).not.toHaveProperty('heartbeatMs');
  });

  it('is ten seconds unless the tool sets another; on other executors there is none unless it sets one', {
    ...promise('G9'),
  }, () => {
    const { timeouts } = plannedCall('c', {});
    const said = { timeouts: { ...timeouts, heartbeatMs: 4_000 } };
    expect(heartbeatOf({})).toBe(10_000);
    expect(heartbeatOf(said)).toBe(4_000);
    expect(heartbeatOf({ taskQueue: 'elsewhere' })).toBeUndefined();
    expect(heartbeatOf({ ...said, taskQueue: 'elsewhere' })).toBe(4_000);
  });
});

describe('the attempts of a tool that runs once', () => {
  const reconcile = (): { readonly happened: false } => ({ happened: false });

  it('are as many as it sets where it can prove that a lost run had no effect, and three by default', () => {
    const once = { ...base, run, effects: 'once' } as const;
    expect(defineTool(once).maxAttempts).toBe(1);
    expect(defineTool({ ...once, reconcile }).maxAttempts).toBe(3);
    expect(defineTool({ ...once, reconcile, maxAttempts: 7 }).maxAttempts).toBe(7);
    expect(defineTool({ ...once, reconcile, maxAttempts: 1 }).maxAttempts).toBe(1);
  });

  it('are never those of one activity, which would run it again unasked', () => {
    const call = plannedCall('c', { effects: 'once', reconcile: true, maxAttempts: 5 });
    expect(toolOptions(call).retry?.maximumAttempts).toBe(1);
  });
});
