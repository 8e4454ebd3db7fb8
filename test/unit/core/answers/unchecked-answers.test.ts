/**
 * Answers that the workflow accepts and only a worker can judge: the reply says so, and the next client reads why one
 * was rejected.
 */
import { describe, expect, it } from 'vitest';
import type { PlannedCall } from '../../../../src/protocol/calls/plan.js';
import {
  answer,
  gatedCall,
  modelCalls,
  plannedCall,
} from '../../../support/builders/core-builders.js';
import { promise } from '../../../support/promise.js';
import { aMachineWith, type MachineUnderTest } from '../../../support/schedules/core-driver.js';
import { expectViewsAgree } from '../../../support/schedules/core-invariants.js';

const SCHEMA = {
  type: 'object',
  properties: {
    zip: { type: 'string', pattern: '^[0-9]{4}$' },
    on: { type: 'string', format: 'date' },
  },
  required: ['zip'],
} as const;
const FORM: Partial<PlannedCall> = { executor: 'human', answerSchema: SCHEMA, recheckAnswer: true };
const asked = (over: Partial<PlannedCall> = FORM): MachineUnderTest =>
  aMachineWith(modelCalls([plannedCall('q', over)]));

describe('an answer that only a worker can judge', () => {
  it.each([
    ['to a form with patterns', FORM, answer({ zip: '1234' }), false],
    ['to a form without any', { executor: 'human' } as const, answer('yes'), undefined],
    [
      'that holds no key which its form would drop',
      {
        ...FORM,
        recheckOnly: 'unknown_keys',
        answerSchema: { type: 'object', properties: { a: {} } },
      } as const,
      answer({}),
      undefined,
    ],
    [
      'that holds such a key',
      {
        ...FORM,
        recheckOnly: 'unknown_keys',
        answerSchema: { type: 'object', properties: { a: { type: 'string' } } },
      } as const,
      answer({ b: 1 }),
      false,
    ],
    ['that declines', FORM, { type: 'decline' }, undefined],
  ] as const)(
    '%s says whether it was judged',
    promise('G25'),
    (_what, over, resolution, checked) => {
      const m = asked(over);
      const verdict = m.resolve('q', resolution, { requestId: 'r1' });
      expect(verdict.verdict).toBe('accepted');
      expect('checked' in verdict ? verdict.checked : undefined).toBe(checked);
      expect(m.last('resolution').checked).toBe(checked);
    },
  );

  it('gets the same reply when it is repeated, until it has been judged', () => {
    const m = asked();
    const first = m.resolve('q', answer({ zip: '1' }), { requestId: 'r1' });
    expect(m.resolve('q', answer({ zip: '1' }), { requestId: 'r1' })).toEqual({
      verdict: 'duplicate',
      first,
    });
  });

  it('is an approval with an edit, too: it is judged as the model’s own input was', () => {
    const m = aMachineWith(modelCalls([gatedCall('g')]));
    expect(m.resolve('g', { type: 'approve', input: { cents: 1 } })).toMatchObject({
      verdict: 'accepted',
      checked: false,
    });
    const plain = aMachineWith(modelCalls([gatedCall('g')]));
    expect(plain.resolve('g', { type: 'approve' })).not.toHaveProperty('checked');
  });

  it('and is reverted leaves its problems with the open call, for the next client', {
    ...promise('G25'),
  }, () => {
    const m = asked();
    expect(m.pending[0]).not.toHaveProperty('reverted');
    m.resolve('q', answer({ zip: 'x' }), { requestId: 'r1' });
    m.checkFails('q', 'must be four digits');
    const problems = [{ path: '/resolution/value', message: 'must be four digits' }];
    expect(m.pending).toMatchObject([{ toolCallId: 'q', reverted: { requestId: 'r1', problems } }]);
    expectViewsAgree(m.events);
    m.rollOver();
    expect(m.pending).toMatchObject([{ reverted: { requestId: 'r1', problems } }]);
    // The problems of the newest answer are shown.
    m.resolve('q', answer({ zip: 'y' }), { requestId: 'r2' });
    m.checkFails('q', 'still not');
    expect(m.pending).toMatchObject([{ reverted: { requestId: 'r2' } }]);
    m.resolve('q', answer({ zip: '1234' }), { requestId: 'r3' });
    m.checked('q', { zip: '1234' });
    expect(m.last('tool_result').result.status).toBe('resolved');
    expect(m.pending).toEqual([]);
  });

  it('is requested by a form that keeps its patterns and formats, which the workflow does not run', {
    ...promise('G25'),
  }, () => {
    const m = asked();
    expect(m.pending[0]?.answerSchema).toEqual(SCHEMA);
    expect(m.resolve('q', answer({ zip: 'no digits', on: 'no date' })).verdict).toBe('accepted');
    const other = asked();
    expect(other.resolve('q', answer({})).verdict).toBe('invalid');
  });
});
