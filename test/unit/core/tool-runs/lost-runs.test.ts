/** Runs that may not be repeated and were lost: reconciling, held calls, the model's result. */

import { describe, expect, it } from 'vitest';
import type { PlannedCall } from '../../../../src/protocol/calls/plan.js';
import { TEXTS } from '../../../../src/protocol/failures/texts.js';
import { toolFinished, toolLost, toolReconciled } from '../../../support/builders/call-ends.js';
import {
  ANSWER_MS,
  gatedCall,
  modelCalls,
  plannedCall,
} from '../../../support/builders/core-builders.js';
import { cancelTurn } from '../../../support/builders/verbs.js';
import { promise } from '../../../support/promise.js';
import { aMachineWith, type MachineUnderTest } from '../../../support/schedules/core-driver.js';
import { expectInvariants, expectViewsAgree } from '../../../support/schedules/core-invariants.js';

const LOSS = { timedOut: false, message: 'the worker was lost' };

function lost(over: Partial<PlannedCall>): MachineUnderTest {
  const m = aMachineWith(modelCalls([plannedCall('c', { effects: 'once', ...over })]));
  toolLost(m.machine, 'c', LOSS);
  return m;
}

describe('a lost run of a tool that may run once', () => {
  it('has an unknown outcome for the model when nothing can reconcile it; only the result is recorded', () => {
    const m = lost({});
    expect(m.types()).toEqual(['tool_result']);
    expect(m.last('tool_result').result).toMatchObject({
      status: 'errored',
      envelope: { ok: false, error: { code: 'outcome_unknown' } },
    });
  });

  it('is reconciled, and the outcome that is found is the result', () => {
    const m = lost({ reconcile: true });
    expect(m.types()).toEqual(['tool_lost']);
    expect(m.effects()).toEqual([{ type: 'reconcile_tool', toolCallId: 'c', run: 1 }]);
    expect(m.state.calls['c']?.status).toBe('outcome_unknown');
    const envelope = { ok: true as const, result: { refunded: 1 } };
    toolReconciled(m.machine, 'c', { outcome: 'happened', envelope });
    expect(m.types()).toEqual(['tool_reconciled', 'tool_result']);
    expect(m.last('tool_result').result).toMatchObject({ status: 'resolved', envelope });
  });

  it.each([1, 2, 3, 7])(
    'that had no effect runs again, %i times in all as its plan says, over restarts and roll-overs',
    promise('G8'),
    (maxAttempts) => {
      const m = lost({ reconcile: true, maxAttempts });
      for (let run = 1; run < maxAttempts; run += 1) {
        expect(m.effects()).toEqual([{ type: 'reconcile_tool', toolCallId: 'c', run }]);
        toolReconciled(m.machine, 'c', { outcome: 'not_happened' });
        expect(m.effects()).toEqual([{ type: 'run_tool', toolCallId: 'c', run: run + 1 }]);
        if (run % 2 === 0) m.rollOver();
        else m.restart();
        toolLost(m.machine, 'c', LOSS);
      }
      expect(m.all('tool_result')).toEqual([]);
      toolReconciled(m.machine, 'c', { outcome: 'not_happened' });
      expect(m.last('tool_result').result.envelope).toEqual({
        ok: false,
        error: { code: 'tool_crashed', message: TEXTS.lostEachTime('server.tool', maxAttempts) },
      });
      expect(m.all('tool_lost').map(({ run }) => run)).toEqual(
        Array.from({ length: maxAttempts }, (_, nth) => nth + 1),
      );
      expectViewsAgree(m.events);
    },
  );

  it('records how often its worker was lost', () => {
    const texts = [1, 2, 3].map((times) => TEXTS.lostEachTime('t', times));
    expect(texts.map((text) => text.slice(0, 50))).toEqual([
      'The worker running tool "t" was lost. The tool say',
      'The worker running tool "t" was lost twice. The to',
      'The worker running tool "t" was lost 3 times. The ',
    ]);
  });

  it('that had no effect may end well the second time', () => {
    const m = lost({ reconcile: true });
    toolReconciled(m.machine, 'c', { outcome: 'not_happened' });
    m.tool('c', 'refunded');
    expect(m.last('tool_result').result.envelope).toEqual({ ok: true, result: 'refunded' });
  });

  it('is not run again by an outcome that comes twice, or that was not requested', () => {
    const m = lost({ reconcile: true });
    toolFinished(m.machine, 'c', { envelope: { ok: true, result: 'late' }, executionMs: 1 });
    toolLost(m.machine, 'c', LOSS);
    toolReconciled(m.machine, 'c', { outcome: 'not_happened' });
    toolReconciled(m.machine, 'c', { outcome: 'not_happened' });
    expect(m.all('tool_reconciled')).toHaveLength(1);
    expect(m.all('tool_result')).toHaveLength(0);
    expectInvariants(m);
  });

  it('and its reconciliation are over when the next run is under way: a late end of either changes nothing', () => {
    const m = lost({ reconcile: true });
    const run = (ordinal: number) => ({ type: 'run_tool', toolCallId: 'c', run: ordinal }) as const;
    const reconciled = { type: 'reconcile_tool', toolCallId: 'c', run: 1 } as const;
    toolReconciled(m.machine, 'c', { outcome: 'not_happened' });
    m.mark();
    const end = { envelope: { ok: true, result: 'of the first run' }, executionMs: 1 } as const;
    m.machine.completed(run(1), end);
    m.machine.lost(run(1), LOSS);
    m.machine.completed(reconciled, { outcome: 'happened', envelope: end.envelope });
    expect(m.types()).toEqual([]);
    m.machine.lost(run(2), LOSS);
    expect(m.effects()).toEqual([{ ...reconciled, run: 2 }]);
    m.mark();
    m.machine.completed(reconciled, { outcome: 'happened', envelope: end.envelope });
    expect(m.types()).toEqual([]);
  });

  it('stays unknown when the tool does not know, and the model reads so', () => {
    const m = lost({ reconcile: true });
    toolReconciled(m.machine, 'c', { outcome: 'unknown', reason: 'bank is down' });
    expect(m.last('tool_reconciled')).toMatchObject({ outcome: 'unknown', reason: 'bank is down' });
    expect(m.last('tool_result').result.envelope).toMatchObject({
      error: { code: 'outcome_unknown' },
    });
  });

  it('that no worker ever took is not reconciled', () => {
    const m = aMachineWith(modelCalls([plannedCall('c', { effects: 'once', reconcile: true })]));
    toolLost(m.machine, 'c', { ...LOSS, neverStarted: true });
    expect(m.types()).toEqual(['tool_result']);
  });

  it('is reconciled, too, when a worker refuses to run a call that was delivered twice', () => {
    const m = aMachineWith(modelCalls([plannedCall('c', { effects: 'once', reconcile: true })]));
    const error = { code: 'outcome_unknown' as const, message: 'x' };
    toolFinished(m.machine, 'c', { envelope: { ok: false, error }, executionMs: 0 });
    expect(m.effects()).toMatchObject([{ type: 'reconcile_tool' }]);
  });

  it('is ended by a cancel while it is reconciled, and by one while it is held', () => {
    for (const over of [{ reconcile: true }, { onOutcomeUnknown: 'hold' }] as const) {
      const m = lost(over);
      cancelTurn(m.machine, {});
      expect(m.last('tool_result').result.status).toBe('cancelled');
      expectInvariants(m);
    }
  });
});

describe('a call whose unknown outcome is held', () => {
  const held = (): MachineUnderTest => lost({ onOutcomeUnknown: 'hold' });

  it('waits as pending for an operator, with the known facts, over a roll-over', () => {
    const m = held();
    m.rollOver();
    expect(m.pending).toMatchObject([
      {
        kind: 'outcome',
        prompt: { of: 'c' },
        reason: TEXTS.outcomeHeld('server.tool'),
        deadline: m.clock.iso(ANSWER_MS),
      },
    ]);
    expect(m.state.calls['c']?.status).toBe('outcome_unknown');
  });

  it('has the operator’s outcome as its result, with the operator in it', () => {
    const m = held();
    m.resolve('c', { type: 'outcome', value: { refunded: 5 } });
    expect(m.last('tool_result').result).toEqual({
      status: 'resolved',
      envelope: { ok: true, result: { refunded: 5 } },
      provenance: 'untrusted',
      actor: m.last('resolution').actor,
    });
    expectViewsAgree(m.events);
  });

  it('may be ended as failed', () => {
    const m = held();
    m.resolve('c', { type: 'outcome', error: 'the bank refused it' });
    expect(m.last('tool_result').result.envelope).toEqual({
      ok: false,
      error: { code: 'tool_error', message: 'the bank refused it' },
    });
    expectViewsAgree(m.events);
  });

  it('has one outcome, also when another operator sends a second one', promise('G44'), () => {
    const m = held();
    expect(m.resolve('c', { type: 'outcome', value: 1 }).verdict).toBe('accepted');
    expect(m.resolve('c', { type: 'outcome', value: 2 })).toMatchObject({
      verdict: 'stale',
      why: 'already_resolved',
      by: 'ben',
    });
    expect(m.all('tool_result')).toHaveLength(1);
  });

  it('is unknown to the model when no operator comes in time', () => {
    const m = held();
    m.advance(ANSWER_MS);
    expect(m.last('expired')).toMatchObject({ kind: 'outcome' });
    expect(m.last('tool_result').result).toMatchObject({
      status: 'expired',
      envelope: { error: { code: 'outcome_unknown' } },
    });
    expect(m.resolve('c', { type: 'outcome', value: 1 }).verdict).toBe('expired');
  });

  it('is held only after its tool was asked to reconcile', () => {
    const m = lost({ reconcile: true, onOutcomeUnknown: 'hold' });
    expect(m.pending).toEqual([]);
    toolReconciled(m.machine, 'c', { outcome: 'unknown', reason: 'down' });
    expect(m.pending).toMatchObject([{ kind: 'outcome' }]);
  });

  it('is not approved again by a second approve', () => {
    const call = gatedCall('c', { effects: 'once', onOutcomeUnknown: 'hold' });
    const m = aMachineWith(modelCalls([call]));
    m.resolve('c', { type: 'approve' });
    toolLost(m.machine, 'c', LOSS);
    expect(m.resolve('c', { type: 'approve' })).toMatchObject({
      verdict: 'stale',
      openKind: 'outcome',
    });
    expectViewsAgree(m.events);
  });
});
