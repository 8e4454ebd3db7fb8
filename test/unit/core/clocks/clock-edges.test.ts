/**
 * Clocks that meet: a moved deadline and the claim timeout, a warning and the end that it announces, a limit and a
 * stop.
 */

import { describe, expect, it } from 'vitest';
import type { TimerEffect } from '../../../../src/core/decide/effects.js';
import { isTimer } from '../../../../src/core/decide/effects.js';
import type { PlannedCall } from '../../../../src/protocol/calls/plan.js';
import {
  ANSWER_MS,
  APPROVAL_MS,
  actor,
  EPOCH_MS,
  MINUTE_MS,
  modelCalls,
  plannedCall,
  RUN_MS,
} from '../../../support/builders/core-builders.js';
import { cancelTurn, claimToolCall, extendToolCall } from '../../../support/builders/verbs.js';
import { promise } from '../../../support/promise.js';
import { aMachineWith, type MachineUnderTest } from '../../../support/schedules/core-driver.js';
import { expectInvariants, expectViewsAgree } from '../../../support/schedules/core-invariants.js';

const GRACE_MS = 15_000;
const iso = (ms: number): string => new Date(EPOCH_MS + ms).toISOString();
const offered = (timeouts: Partial<PlannedCall['timeouts']> = {}): MachineUnderTest => {
  const clocks = { approvalMs: APPROVAL_MS, answerMs: ANSWER_MS, runMs: RUN_MS };
  const all = { ...clocks, claimMs: GRACE_MS, ...timeouts };
  return aMachineWith(modelCalls([plannedCall('c', { executor: 'client', timeouts: all })]));
};
const extend = (m: MachineUnderTest, by: number) =>
  extendToolCall(m.machine, { toolCallId: 'c', requestId: `by-${by}`, actor: actor('boss'), by });
const timer = (m: MachineUnderTest, type: TimerEffect['type']): TimerEffect => {
  const found = m.effects().find((effect) => effect.type === type);
  if (found === undefined || !isTimer(found)) throw new Error(`no ${type} is wanted`);
  return found;
};

describe('a deadline that is moved while no client has claimed the call', () => {
  it('leaves the claim timeout as it is: more time for the work is no more time for the claim', {
    ...promise('G81'),
  }, () => {
    const m = offered();
    expect(extend(m, MINUTE_MS)).toMatchObject({ deadline: iso(ANSWER_MS + MINUTE_MS) });
    expect(m.pending).toMatchObject([{ claimBy: iso(GRACE_MS) }]);
    m.advance(GRACE_MS);
    expect(m.last('expired')).toMatchObject({ unclaimed: true, deadline: iso(GRACE_MS) });
    expectViewsAgree(m.events);
  });

  it('gives a claim timeout that the old deadline had cut short the rest of its time', {
    ...promise('G81'),
  }, () => {
    const m = offered({ answerMs: 5_000 });
    expect(m.pending).toMatchObject([{ claimBy: iso(5_000), deadline: iso(5_000) }]);
    expect(extend(m, 5_000).verdict).toBe('accepted');
    expect(m.pending).toMatchObject([{ claimBy: iso(10_000), deadline: iso(10_000) }]);
    expectViewsAgree(m.events);
    m.rollOver();
    expect(extend(m, MINUTE_MS).verdict).toBe('accepted');
    expect(m.pending).toMatchObject([{ claimBy: iso(GRACE_MS), deadline: iso(70_000) }]);
    m.advance(10_000);
    expect(m.all('expired')).toEqual([]);
    claimToolCall(m.machine, { toolCallId: 'c', actor: actor('tab') });
    m.advance(GRACE_MS);
    expect(m.pending).toMatchObject([{ claim: { by: 'tab' } }]);
    expectInvariants(m);
    expectViewsAgree(m.events);
  });
});

describe('a warning that comes after the end', () => {
  it('announces nothing: the call expires', () => {
    const m = aMachineWith(
      modelCalls([plannedCall('c', { executor: 'human', warnBeforeMs: MINUTE_MS })]),
    );
    const warning = timer(m, 'await_warning');
    m.clock.advance(ANSWER_MS);
    m.machine.fired(warning);
    expect(m.types()).toEqual(['expired', 'tool_result']);
    m.machine.fired(warning);
    expect(m.types()).toEqual([]);
  });
});

describe('the time limit of a turn that stops already', () => {
  it('is not reported', () => {
    const m = aMachineWith(modelCalls([plannedCall('c')]), {
      settings: { budgets: { timeMs: MINUTE_MS } },
    });
    m.tool('c');
    const limit = timer(m, 'await_turn_limit');
    cancelTurn(m.machine, { actor: actor('ann') });
    m.mark();
    m.clock.advance(MINUTE_MS);
    m.machine.fired(limit);
    expect(m.types()).toEqual([]);
    expectInvariants(m);
  });
});
