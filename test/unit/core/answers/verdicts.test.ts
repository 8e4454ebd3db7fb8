/**
 * Every resolution has one verdict: the matrix of types and kinds, the order of precedence, the fields that are
 * refused.
 */

import { describe, expect, it } from 'vitest';
import type {
  Resolution,
  ResolutionType,
  VerdictName,
} from '../../../../src/protocol/calls/resolutions.js';
import { RESOLVES, VERDICT_PRECEDENCE } from '../../../../src/protocol/calls/resolutions.js';
import type { SuspensionKind } from '../../../../src/protocol/calls/suspensions.js';
import { SUSPENSION_KINDS } from '../../../../src/protocol/calls/suspensions.js';
import { toolLost } from '../../../support/builders/call-ends.js';
import {
  ANSWER_MS,
  APPROVE,
  DENY,
  gatedCall,
  modelCalls,
  plannedCall,
  result,
} from '../../../support/builders/core-builders.js';
import { resolve } from '../../../support/builders/verbs.js';
import { promise } from '../../../support/promise.js';
import { aMachineWith, type MachineUnderTest } from '../../../support/schedules/core-driver.js';

const WAITING: Readonly<Record<SuspensionKind, () => MachineUnderTest>> = {
  approval: () => aMachineWith(modelCalls([gatedCall('c')])),
  elicitation: () => aMachineWith(modelCalls([plannedCall('c', { executor: 'human' })])),
  client_execution: () => aMachineWith(modelCalls([plannedCall('c', { executor: 'client' })])),
  external_execution: () => aMachineWith(modelCalls([plannedCall('c', { executor: 'external' })])),
  outcome: () => {
    const call = plannedCall('c', { effects: 'once', onOutcomeUnknown: 'hold' });
    const m = aMachineWith(modelCalls([call]));
    toolLost(m.machine, 'c', { timedOut: false, message: 'the worker was lost' });
    m.mark();
    return m;
  },
};

const RESOLUTIONS: Readonly<Record<ResolutionType, Resolution>> = {
  approve: { type: 'approve' },
  deny: { type: 'deny', reason: 'no' },
  answer: { type: 'answer', value: null },
  decline: { type: 'decline' },
  result: { type: 'result', value: { deep: [1, 'two', false] } },
  error: { type: 'error', message: 'broken' },
  outcome: { type: 'outcome', error: 'it was refused' },
};
const TYPES = Object.keys(RESOLUTIONS) as ResolutionType[];

describe('a resolution of type', () => {
  for (const type of TYPES)
    for (const kind of SUSPENSION_KINDS) {
      const fits = RESOLVES[type].includes(kind);
      it(`${type} ${fits ? 'answers' : 'is stale for'} a call that waits for ${kind}`, () => {
        const m = WAITING[kind]();
        const verdict = m.resolve('c', RESOLUTIONS[type]);
        if (fits) {
          expect(verdict).toEqual({
            verdict: 'accepted',
            toolCallId: 'c',
            seq: m.last('resolution').seq,
          });
          expect(m.types()[0]).toBe('resolution');
          expect(m.last('resolution')).toMatchObject({ kind, resolution: RESOLUTIONS[type] });
        } else {
          expect(verdict).toMatchObject({ verdict: 'stale', why: 'other_kind', openKind: kind });
          expect(m.types()).toEqual([]);
        }
      });
    }

  it('none, or one that does not exist, is invalid and names the types that fit', () => {
    const expected: Record<SuspensionKind, string> = {
      approval: 'must be "approve" or "deny"',
      elicitation: 'must be "answer" or "decline"',
      client_execution: 'must be "result" or "error"',
      external_execution: 'must be "result" or "error"',
      outcome: 'must be "outcome"',
    };
    for (const kind of SUSPENSION_KINDS)
      for (const resolution of [
        undefined,
        null,
        'approve',
        {},
        { type: 'yes' },
        { type: '__proto__' },
        [],
      ])
        expect(WAITING[kind]().resolve('c', resolution as unknown as Resolution)).toEqual({
          verdict: 'invalid',
          problems: [{ path: '/resolution/type', message: expected[kind] }],
        });
  });
});

describe('a resolution with', () => {
  const refused: [string, SuspensionKind, unknown, string][] = [
    ['input to a denial', 'approval', { type: 'deny', input: { cents: 1 } }, '/resolution/input'],
    [
      'a wish to be remembered',
      'approval',
      { type: 'deny', remember: 'turn' },
      '/resolution/remember',
    ],
    [
      'a wish to be remembered beside an answer',
      'elicitation',
      { type: 'answer', value: 1, remember: { for: 'turn' } },
      '/resolution/remember',
    ],
    [
      'an unknown field beside an answer',
      'elicitation',
      { type: 'answer', value: 1, note: 'x' },
      '/resolution/note',
    ],
    [
      'an unknown field beside a decline',
      'elicitation',
      { type: 'decline', value: 1 },
      '/resolution/value',
    ],
    ['neither value nor error', 'outcome', { type: 'outcome' }, '/resolution'],
    ['both value and error', 'outcome', { type: 'outcome', value: 1, error: 'x' }, '/resolution'],
    ['an error that is no text', 'outcome', { type: 'outcome', error: 7 }, '/resolution/error'],
    [
      'an unknown field beside an outcome',
      'outcome',
      { type: 'outcome', value: 1, message: 'x' },
      '/resolution/message',
    ],
    [
      'an unknown field beside a result',
      'client_execution',
      { type: 'result', value: 1, executionMs: 3 },
      '/resolution/executionMs',
    ],
    [
      'an unknown field beside an error',
      'client_execution',
      { type: 'error', message: 'x', code: 1 },
      '/resolution/code',
    ],
    ['no value', 'elicitation', { type: 'answer' }, '/resolution/value'],
    ['no error text', 'client_execution', { type: 'error' }, '/resolution/message'],
    ['a reason that is no text', 'approval', { type: 'deny', reason: 7 }, '/resolution/reason'],
    [
      'a reason that is a novel',
      'approval',
      { type: 'deny', reason: 'x'.repeat(2_001) },
      '/resolution/reason',
    ],
    [
      'a value nested too deep',
      'elicitation',
      { type: 'answer', value: nested(65) },
      '/resolution/value',
    ],
    [
      'a value too large',
      'elicitation',
      { type: 'answer', value: 'x'.repeat(200 * 1024) },
      '/resolution/value',
    ],
  ];
  for (const [what, kind, resolution, path] of refused)
    it(`${what} is refused, the field is named, and the call stays open`, promise('S18'), () => {
      const m = WAITING[kind]();
      expect(m.resolve('c', resolution as Resolution)).toMatchObject({
        verdict: 'invalid',
        problems: [{ path }],
      });
      expect(m.types()).toEqual([]);
      expect(m.pending).toHaveLength(1);
    });

  it('a malformed request id or call id is refused', () => {
    const m = WAITING.approval();
    for (const requestId of [7, '', null, 'x'.repeat(201)])
      expect(m.resolve('c', APPROVE, { requestId })).toMatchObject({
        verdict: 'invalid',
        problems: [{ path: '/requestId' }],
      });
    for (const toolCallId of [undefined, null, 7, ''])
      expect(resolve(m.machine, { toolCallId, resolution: APPROVE })).toMatchObject({
        verdict: 'invalid',
        problems: [{ path: '/toolCallId' }],
      });
    expect(m.types()).toEqual([]);
  });

  it('a value of the deepest nesting allowed is accepted', () => {
    expect(WAITING.elicitation().resolve('c', { type: 'answer', value: nested(64) })).toMatchObject(
      {
        verdict: 'accepted',
      },
    );
  });
});

function nested(depth: number): never[] {
  let value: unknown[] = [];
  for (let level = 1; level < depth; level += 1) value = [value];
  return value as never[];
}

/**
 * A gated client call whose approval was accepted as request "used". The next resolution has a combination of these
 * faults, so that each pair of verdicts can apply at once.
 */
type Fault = Extract<VerdictName, 'unknown' | 'duplicate' | 'stale' | 'expired' | 'invalid'>;
const FAULTS: readonly Fault[] = ['unknown', 'duplicate', 'stale', 'expired', 'invalid'];

function resolveWith(faults: readonly Fault[]): {
  verdict: VerdictName;
  recorded: readonly string[];
} {
  const m = aMachineWith(modelCalls([gatedCall('c', { executor: 'client' })]));
  m.resolve('c', APPROVE, { requestId: 'used' });
  if (faults.includes('expired')) m.clock.advance(ANSWER_MS + 60_000);
  m.mark();
  // A repeat has the content of the first request; its only other fault can be that the call has moved on.
  const isRepeat = faults.includes('duplicate');
  const resolution = faults.includes('stale') || isRepeat ? APPROVE : result(1);
  const { verdict } = m.resolve(faults.includes('unknown') ? 'nobody' : 'c', resolution, {
    requestId: faults.includes('duplicate') ? 'used' : 'fresh',
    ...(faults.includes('invalid') && !isRepeat ? { argsDigest: 'sha256:other' } : {}),
  });
  return { verdict, recorded: m.types() };
}

describe('when two verdicts apply, the earlier in the table is given:', {
  ...promise('G45', 'A53'),
}, () => {
  it('none of them, and the resolution is accepted', () => {
    expect(resolveWith([])).toEqual({
      verdict: 'accepted',
      recorded: ['resolution', 'tool_result'],
    });
  });
  for (const first of FAULTS)
    for (const second of FAULTS) {
      if (VERDICT_PRECEDENCE.indexOf(first) > VERDICT_PRECEDENCE.indexOf(second)) continue;
      it(first === second ? `${first} alone` : `${first} before ${second}`, () => {
        expect(resolveWith([first, second])).toEqual({ verdict: first, recorded: [] });
      });
    }
  it('other content under a used request id, invalid in the place of duplicate, before all that follow', {
    ...promise('G37'),
  }, () => {
    const m = aMachineWith(modelCalls([gatedCall('c', { executor: 'client' })]));
    m.resolve('c', APPROVE, { requestId: 'used' });
    m.clock.advance(ANSWER_MS + 60_000);
    expect(m.resolve('nobody', result(1), { requestId: 'used' }).verdict).toBe('unknown');
    for (const [resolution, fields] of [
      [result(1), {}],
      [DENY, {}],
      [APPROVE, { argsDigest: 'sha256:other' }],
    ] as const)
      expect(m.resolve('c', resolution, { requestId: 'used', ...fields }).verdict).toBe('invalid');
  });
  it('all of them at once', () => {
    expect(resolveWith(FAULTS).verdict).toBe('unknown');
    expect(resolveWith(FAULTS.slice(1)).verdict).toBe('duplicate');
    expect(resolveWith(FAULTS.slice(2)).verdict).toBe('stale');
    expect(resolveWith(FAULTS.slice(3)).verdict).toBe('expired');
  });
});
