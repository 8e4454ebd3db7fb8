/** Approvals with edited input: accepted at once, checked by a worker, and run only then. */

import { describe, expect, it } from 'vitest';
import type { Executor } from '../../../../src/protocol/calls/executors.js';
import type { ApprovalPlan } from '../../../../src/protocol/calls/plan.js';
import type { Resolution } from '../../../../src/protocol/calls/resolutions.js';
import { idempotencyKeyFor } from '../../../../src/protocol/values/ids.js';
import type { Json } from '../../../../src/protocol/values/json.js';
import { editChecked } from '../../../support/builders/call-ends.js';
import {
  APPROVAL_MS,
  APPROVE,
  actor,
  gatedCall,
  modelCalls,
} from '../../../support/builders/core-builders.js';
import { cancelTurn } from '../../../support/builders/verbs.js';
import { promise } from '../../../support/promise.js';
import { aMachineWith, type MachineUnderTest } from '../../../support/schedules/core-driver.js';

const INPUT = { cents: 500, to: 'ann' };
const gated = (executor: Executor = 'server'): MachineUnderTest =>
  aMachineWith(modelCalls([gatedCall('c', { executor, input: INPUT })]));
const edit = (input: Json): Resolution => ({ type: 'approve', input });

function checked(
  m: MachineUnderTest,
  requestId: string,
  input: Json,
  approval: ApprovalPlan = { needed: true },
): void {
  const outcome = { ok: true as const, input, argsDigest: 'sha256:edited', approval };
  editChecked(m.machine, { toolCallId: 'c', requestId }, outcome);
}

function fails(m: MachineUnderTest, requestId: string): void {
  const problems = [{ path: '/resolution/input/cents', message: 'too much' }];
  editChecked(m.machine, { toolCallId: 'c', requestId }, { ok: false, problems });
}

describe('an approval with edited input', () => {
  it('is accepted at once, and nothing runs before a worker has checked the edit', () => {
    const m = gated();
    expect(m.resolve('c', edit({ cents: 5 }), { requestId: 'r1' }).verdict).toBe('accepted');
    expect(m.pending).toEqual([]);
    expect(m.effects()).toEqual([{ type: 'check_edit', toolCallId: 'c', requestId: 'r1' }]);
    m.tool('c', 'a run that was not requested');
    m.rollOver();
    expect(m.effectTypes()).toEqual(['check_edit']);
    m.mark();
    checked(m, 'r1', { cents: 5, currency: 'EUR' });
    expect(m.types()).toEqual(['input_edited']);
    expect(m.effectTypes()).toEqual(['run_tool']);
    const { plan, approver } = m.state.calls['c']!;
    expect(plan).toMatchObject({
      input: { cents: 5, currency: 'EUR' },
      argsDigest: 'sha256:edited',
    });
    expect(approver?.id).toBe('ben');
  });

  it('leaves both inputs in the log, and another idempotency key', promise('G62'), () => {
    const m = gated();
    const keyOf = (): string => {
      const { plan, turnId, step } = m.state.calls['c']!;
      return idempotencyKeyFor(m.state, { ...plan, turnId, step });
    };
    const before = keyOf();
    m.resolve('c', edit({ cents: 5 }), { requestId: 'r1' });
    checked(m, 'r1', { cents: 5, currency: 'EUR' });
    expect(m.last('tool_call').call.input).toEqual(INPUT);
    expect(m.last('resolution').resolution).toEqual(edit({ cents: 5 }));
    expect(m.last('input_edited')).toMatchObject({ requestId: 'r1', argsDigest: 'sha256:edited' });
    expect(keyOf()).not.toBe(before);
  });

  it('is kept as it was given only where the worker has normalised it', () => {
    const m = gated();
    m.resolve('c', edit({ cents: 5 }), { requestId: 'r1' });
    checked(m, 'r1', { cents: 5 });
    expect(m.state.calls['c']?.plan).not.toHaveProperty('raw');
    const other = gated();
    other.resolve('c', edit({ cents: 5 }), { requestId: 'r1' });
    checked(other, 'r1', { cents: 5, currency: 'EUR' });
    expect(other.state.calls['c']?.plan.raw).toEqual({ cents: 5 });
  });

  it('that equals the pending input is an approval', () => {
    const m = gated();
    m.resolve('c', edit({ to: 'ann', cents: 500 }));
    expect(m.last('resolution').resolution).toEqual(APPROVE);
    expect(m.effectTypes()).toEqual(['run_tool']);
  });

  it('that fails its check opens the call again, as it was, under its old deadline', {
    ...promise('G63'),
  }, () => {
    const m = gated();
    const [before] = m.pending;
    m.clock.advance(APPROVAL_MS / 2);
    m.resolve('c', edit({ cents: 5 }), { requestId: 'r1' });
    m.clock.advance(1_000);
    m.mark();
    fails(m, 'r1');
    expect(m.types()).toEqual(['resolution_reverted', 'suspension']);
    expect(m.last('resolution_reverted')).toMatchObject({
      requestId: 'r1',
      problems: [{ path: '/resolution/input/cents', message: 'too much' }],
    });
    const problems = [{ path: '/resolution/input/cents', message: 'too much' }];
    const reverted = { requestId: 'r1', problems };
    expect(m.pending).toEqual([{ ...before, openedAt: m.clock.iso(), reverted }]);
    checked(m, 'r1', { cents: 1 });
    expect(m.effectTypes()).toEqual(['await_deadline']);
    expect(m.resolve('c', edit({ cents: 6 }), { requestId: 'r1' }).verdict).toBe('accepted');
    checked(m, 'r1', { cents: 6 });
    expect(m.effectTypes()).toEqual(['run_tool']);
  });

  it('cannot extend the deadline: checked too late, the call expires', () => {
    const m = gated();
    m.resolve('c', edit({ cents: 5 }), { requestId: 'r1' });
    m.clock.advance(2 * APPROVAL_MS);
    fails(m, 'r1');
    m.advance(0);
    expect(m.last('tool_result').result.status).toBe('expired');
  });

  it('wins over a second one with another edit, which is stale; its own repeat is a duplicate', {
    ...promise('G62'),
  }, () => {
    const m = gated();
    m.resolve('c', edit({ cents: 5 }), { requestId: 'r1' });
    const other = { requestId: 'r2', actor: actor('eve') };
    expect(m.resolve('c', edit({ cents: 9 }), other)).toMatchObject({
      verdict: 'stale',
      by: 'ben',
    });
    expect(m.resolve('c', APPROVE, other).verdict).toBe('stale');
    expect(m.resolve('c', edit({ cents: 5 }), { requestId: 'r1' }).verdict).toBe('duplicate');
    checked(m, 'r2', { cents: 9 });
    expect(m.effectTypes()).toEqual(['check_edit']);
    checked(m, 'r1', { cents: 5 });
    checked(m, 'r1', { cents: 7 });
    expect(m.all('input_edited')).toHaveLength(1);
    expect(m.resolve('c', edit({ cents: 9 }), other).verdict).toBe('stale');
  });

  it('is guarded by the digest of the pending input, not by that of an edit', () => {
    const m = gated();
    const { argsDigest } = m.pending[0]!;
    m.resolve('c', edit({ cents: 5 }), { requestId: 'r1' });
    fails(m, 'r1');
    const wrong = m.resolve('c', APPROVE, { argsDigest: 'sha256:edited' });
    expect(wrong).toMatchObject({ verdict: 'invalid', problems: [{ path: '/argsDigest' }] });
    expect(m.resolve('c', APPROVE, { argsDigest }).verdict).toBe('accepted');
  });

  it('needs an approver whom the policy admits for the edited call', promise('G63'), () => {
    const m = gated();
    const audience = { roles: ['cfo'], exclude: ['requester'] };
    m.resolve('c', edit({ cents: 99_999 }), { requestId: 'r1' });
    checked(m, 'r1', { cents: 99_999 }, { needed: true, audience });
    expect(m.last('resolution_reverted').problems[0]?.message).toMatch(/not in the audience/);
    const own = { requestId: 'r2', actor: actor('ann', { roles: ['cfo'] }) };
    m.resolve('c', edit({ cents: 99_999 }), own);
    checked(m, 'r2', { cents: 99_999 }, { needed: true, audience });
    expect(m.last('resolution_reverted').problems[0]?.message).toMatch(/requesters of this call/);
    m.resolve('c', edit({ cents: 99_999 }), {
      requestId: 'r3',
      actor: actor('cy', { roles: ['cfo'] }),
    });
    checked(m, 'r3', { cents: 99_999 }, { needed: true, audience });
    expect(m.effectTypes()).toEqual(['run_tool']);
  });

  it.each(['client', 'external'] as const)('is the input of a %s tool from then on', (executor) => {
    const m = gated(executor);
    m.resolve('c', edit({ cents: 5 }), { requestId: 'r1' });
    checked(m, 'r1', { cents: 5 });
    expect(m.pending).toMatchObject([{ prompt: { cents: 5 }, argsDigest: 'sha256:edited' }]);
  });

  it('is the result of an internal tool', () => {
    const m = gated('internal');
    m.resolve('c', edit({ cents: 5 }), { requestId: 'r1' });
    checked(m, 'r1', { cents: 5 });
    expect(m.last('tool_result').result.envelope).toMatchObject({ result: { args: { cents: 5 } } });
  });

  it('is over when its turn is cancelled; a later outcome of the check has no effect', () => {
    const m = gated();
    m.resolve('c', edit({ cents: 5 }), { requestId: 'r1' });
    cancelTurn(m.machine, {});
    checked(m, 'r1', { cents: 5 });
    expect(m.all('input_edited')).toEqual([]);
    expect(m.all('tool_result')).toHaveLength(1);
  });

  it('must be JSON of a bounded size and depth', () => {
    const m = gated();
    let deep: Json = 0;
    for (let level = 0; level < 66; level += 1) deep = [deep];
    for (const input of [deep, 'x'.repeat(200 * 1024 + 1), Number.NaN, () => 1])
      expect(m.resolve('c', edit(input as Json)).verdict).toBe('invalid');
    const odd = JSON.parse('{"__proto__": {"polluted": true}}') as Json;
    expect(m.resolve('c', edit(odd)).verdict).toBe('accepted');
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });
});
