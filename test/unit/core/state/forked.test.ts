/** The calls that a fork takes over, and the fields of each that go with it. */
import { describe, expect, it } from 'vitest';
import type { CallState } from '../../../../src/core/state/calls.js';
import { callsOfFork } from '../../../../src/core/state/forked.js';
import { gatedCall, modelCalls, plannedCall } from '../../../support/builders/core-builders.js';
import { aMachine } from '../../../support/schedules/core-driver.js';

const AT = '2026-05-01T00:00:00.000Z';

/** `g` and `h` wait, `a` has its result, `d` is detached. */
function origin() {
  const m = aMachine();
  m.send('one');
  m.model(modelCalls([gatedCall('d', { mode: 'detach' })]));
  m.model(modelCalls([gatedCall('g'), gatedCall('h'), plannedCall('a')])).tool('a');
  return m.state.calls;
}

const forked = (calls: Readonly<Record<string, CallState>>, reopened: readonly string[]) =>
  callsOfFork(calls, { reopened, ofStep: ['g', 'h', 'a', 'l'], at: AT });

describe('a fork', () => {
  it('takes over the calls that wait anew, and the results of their step', () => {
    const calls = origin();
    expect(Object.keys(forked(calls, ['g'])).sort()).toEqual(['a', 'g']);
    expect(Object.keys(forked(calls, ['g', 'd'])).sort()).toEqual(['a', 'd', 'g']);
    expect(forked(calls, ['g'])['a']).toBe(calls['a']);
  });

  it('begins a call anew, with its plan and without its wait', () => {
    const calls = origin();
    const { plan, turnId, step, since } = calls['g'] as CallState;
    const { g, d } = forked(calls, ['g', 'd']);
    expect(g).toEqual({ plan, turnId, step, since, status: 'running' });
    const { ack, ...detached } = calls['d'] as CallState;
    expect(ack).toBeDefined();
    expect(d).toEqual({
      ...{ plan: detached.plan, turnId: detached.turnId, step: detached.step },
      ...{ since: detached.since, background: 'detached', status: 'detached', ack },
      requestedBy: detached.requestedBy,
    });
  });

  it('keeps what the call was given before it waited, and asks again', () => {
    const kept = {
      ...{ agent: 'other', requestedBy: { id: 'ann' }, prepared: { a: 1 } },
      ...{ revised: true, offerDigest: 'x' },
    };
    const { g: before } = origin();
    const given = { ...before, ...kept, askedAt: '2026-01-01T00:00:00.000Z', claim: {} };
    const { g } = forked({ g: given as unknown as CallState }, ['g']);
    const { plan, turnId, step, since } = before as CallState;
    expect(g).toEqual({ plan, turnId, step, since, status: 'running', ...kept, askedAt: AT });
  });

  it('takes over no late call, but its result where it is of the step', () => {
    const { a } = origin();
    const late = {
      ...a,
      ...{ status: 'expired', background: 'late', closedWait: {}, answer: {} },
    } as unknown as CallState;
    const { l } = forked({ l: late, m: late }, []);
    expect(l).toEqual({ ...a, status: 'expired' });
    expect(Object.keys(forked({ l: late, m: late }, []))).toEqual(['l']);
  });
});
