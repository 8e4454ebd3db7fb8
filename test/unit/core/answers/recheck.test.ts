/** Answers that a worker still has to check: accepted, then confirmed or reverted. */

import { describe, expect, it } from 'vitest';
import type { PlannedCall } from '../../../../src/protocol/calls/plan.js';
import { answerChecked } from '../../../support/builders/call-ends.js';
import {
  ANSWER_MS,
  APPROVE,
  answer,
  gatedCall,
  modelCalls,
  plannedCall,
  result,
} from '../../../support/builders/core-builders.js';
import { aMachineWith, type MachineUnderTest } from '../../../support/schedules/core-driver.js';

const CHECKED: Partial<PlannedCall> = { executor: 'human', recheckAnswer: true };
const question = (): MachineUnderTest => aMachineWith(modelCalls([plannedCall('q', CHECKED)]));

describe('an answer that needs a worker’s check', () => {
  it('becomes the result as the worker has parsed it', () => {
    const m = question();
    expect(m.resolve('q', answer(' 7 '), { requestId: 'r1' })).toMatchObject({
      verdict: 'accepted',
    });
    expect(m.types()).toEqual(['resolution']);
    expect(m.effects()).toEqual([{ type: 'check_answer', toolCallId: 'q', requestId: 'r1' }]);
    m.checked('q', 7);
    expect(m.types()).toEqual(['tool_result']);
    expect(m.last('tool_result').result).toMatchObject({
      envelope: { ok: true, result: 7 },
      provenance: 'untrusted',
      actor: { id: 'ben' },
    });
  });

  it('and fails it opens the call again under its old deadline; a second answer is accepted', () => {
    const m = question();
    const { deadline } = m.pending[0]!;
    m.clock.advance(ANSWER_MS / 2);
    m.resolve('q', answer('x'));
    m.clock.advance(60_000);
    m.checkFails('q', 'no such order');
    expect(m.types()).toEqual(['resolution', 'resolution_reverted', 'suspension']);
    expect(m.last('resolution_reverted').problems).toEqual([
      { path: '/resolution/value', message: 'no such order' },
    ]);
    expect(m.pending).toMatchObject([{ toolCallId: 'q', deadline, openedAt: m.clock.iso() }]);
    expect(m.effects()).toMatchObject([{ type: 'await_deadline', deadline }]);

    expect(m.resolve('q', answer('y'))).toMatchObject({ verdict: 'accepted' });
    m.checkFails('q');
    m.rollOver();
    expect(m.pending).toMatchObject([{ deadline }]);
    m.resolve('q', answer('z'));
    m.checked('q', 'z');
    expect(m.all('tool_result')).toHaveLength(1);
    expect(m.effectTypes()).toEqual(['call_model']);
  });

  it('cannot extend the deadline: checked too late, the call expires at once', () => {
    const m = question();
    m.clock.advance(ANSWER_MS - 1);
    m.resolve('q', answer('x'));
    m.clock.advance(3_600_000);
    m.checkFails('q');
    m.mark();
    expect(m.resolve('q', answer('y'))).toMatchObject({ verdict: 'expired' });
    m.advance(0);
    expect(m.types()).toEqual(['expired', 'tool_result']);
  });

  it('and failed it may be sent again under the same request id, since it was not accepted in the end', () => {
    const m = question();
    m.resolve('q', answer('x'), { requestId: 'r1' });
    m.checkFails('q');
    expect(m.resolve('q', answer('y'), { requestId: 'r1' })).toMatchObject({ verdict: 'accepted' });
    expect(m.resolve('q', answer('y'), { requestId: 'r1' })).toMatchObject({
      verdict: 'duplicate',
    });
  });

  it('and failed it forgets no other request: messages and other calls keep theirs', () => {
    const m = aMachineWith(modelCalls([plannedCall('q', CHECKED), gatedCall('g')]));
    m.resolve('g', APPROVE, { requestId: 'message-1' });
    m.resolve('q', answer('x'), { requestId: 'message-1' });
    m.checkFails('q');
    expect(m.trySend('hello', { requestId: 'message-1' })).toMatchObject({
      refusal: { code: 'duplicate' },
    });
    expect(m.resolve('g', APPROVE, { requestId: 'message-1' })).toMatchObject({
      verdict: 'duplicate',
    });
  });

  it('keeps other answers out while it is being checked', () => {
    const m = question();
    m.resolve('q', answer('x'));
    expect(m.resolve('q', answer('y'))).toMatchObject({
      verdict: 'stale',
      why: 'already_resolved',
      by: 'ben',
    });
    expect(m.pending).toEqual([]);
  });

  it('is confirmed once: a check of an older answer, or of none, changes nothing', () => {
    const m = question();
    m.resolve('q', answer('x'), { requestId: 'r1' });
    m.checkFails('q');
    m.resolve('q', answer('y'), { requestId: 'r2' });
    m.mark();
    answerChecked(m.machine, { toolCallId: 'q', requestId: 'r1' }, { ok: true, value: 'x' });
    answerChecked(m.machine, { toolCallId: 'nobody', requestId: 'r1' }, { ok: true, value: 'x' });
    answerChecked(
      m.machine,
      { toolCallId: '__proto__', requestId: 'r1' },
      { ok: true, value: 'x' },
    );
    expect(m.types()).toEqual([]);
  });

  it('of a gated client tool returns the call to the client, not to the approver', () => {
    const m = aMachineWith(
      modelCalls([gatedCall('c', { executor: 'client', recheckAnswer: true })]),
    );
    m.resolve('c', APPROVE);
    const { deadline } = m.pending[0]!;
    m.resolve('c', result('bad'));
    m.checkFails('c');
    expect(m.pending).toMatchObject([{ kind: 'client_execution', deadline }]);
    expect(m.resolve('c', APPROVE)).toMatchObject({ verdict: 'stale' });
    m.resolve('c', result('good'));
    m.checked('c', 'good');
    expect(m.last('tool_result').result.status).toBe('resolved');
  });
});
