/** Answers to the questions that a tool asks: refusals, checks, further questions, approvals before them. */

import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { rerunFields } from '../../../../src/core/calls/ask.js';
import { TEXTS } from '../../../../src/protocol/failures/texts.js';
import { MAX_ASKS_PER_CALL } from '../../../../src/protocol/limits/limits.js';
import type { RunToolInput } from '../../../../src/protocol/workflow/activities.js';
import { toolFinished } from '../../../support/builders/call-ends.js';
import {
  ANSWER_MS,
  actor,
  answer,
  gatedCall,
  MINUTE_MS,
  modelCalls,
  plannedCall,
} from '../../../support/builders/core-builders.js';
import { resolve } from '../../../support/builders/verbs.js';
import { promise } from '../../../support/promise.js';
import { asked, asks, CODE, digestOf, NUMBER } from '../../../support/schedules/core-asks.js';
import { aMachineWith, type MachineUnderTest } from '../../../support/schedules/core-driver.js';
import { expectInvariants, expectViewsAgree } from '../../../support/schedules/core-invariants.js';

const STATE = { cart: ['tea'], cents: 5 };

/** A call whose first question was answered, and whose second is open. */
function askedTwice(first: unknown = NUMBER, second: unknown = NUMBER): MachineUnderTest {
  const m = asked(first);
  m.resolve('c', answer(1), { requestId: 'first' });
  asks(m, 'c', second);
  return m;
}

const entry = (m: MachineUnderTest): Pick<RunToolInput, 'run' | 'asked'> =>
  rerunFields(m.state.calls['c']!);
const digest = (m: MachineUnderTest) => digestOf(m.pending[0]);

describe('a question that is declined', () => {
  it('ends the call as a question to a person does, and the tool is not entered again', () => {
    const m = asked();
    m.resolve('c', { type: 'decline', reason: 'none of your business' });
    expect(m.last('tool_result').result).toMatchObject({
      status: 'errored',
      provenance: 'untrusted',
      envelope: { error: { code: 'declined', message: 'none of your business' } },
      actor: { id: 'ben' },
    });
    expect(m.effectTypes()).toEqual(['call_model']);
    expectViewsAgree(m.events);
  });

  it('enters the tool again where the tool handles declines', () => {
    const m = asked({ ...NUMBER, state: STATE, onDecline: 'enter' });
    expect(m.resolve('c', { type: 'decline', reason: 'no' }).verdict).toBe('accepted');
    expect(m.effects()).toEqual([{ type: 'run_tool', toolCallId: 'c', run: 2 }]);
    expect(entry(m)).toEqual({
      run: 2,
      asked: { asks: 1, state: STATE, declined: { reason: 'no' }, actor: actor('ben') },
    });
    m.tool('c', 'released');
    expect(m.last('tool_result').result.status).toBe('resolved');
    expectViewsAgree(m.events);
  });

  it('may be asked anew, and the new answer is no refusal any more', () => {
    const m = asked({ ...NUMBER, onDecline: 'enter' });
    m.resolve('c', { type: 'decline' });
    asks(m, 'c');
    expect(m.pending).toMatchObject([{ ask: 2 }]);
    m.resolve('c', answer(1), digest(m));
    expect(entry(m).asked).toEqual({ asks: 2, answer: { value: 1 }, actor: actor('ben') });
  });
});

describe('an answer with a pattern in its form', () => {
  it('is checked by a worker before the tool is entered', () => {
    const m = asked(CODE);
    expect(m.pending[0]?.answerSchema).toMatchObject({ type: 'string', pattern: '^[A-Z]{3}$' });
    m.resolve('c', answer('ABC'), { requestId: 'r' });
    expect(m.effects()).toEqual([{ type: 'check_answer', toolCallId: 'c', requestId: 'r' }]);
    m.rollOver();
    m.checked('c', 'ABC');
    expect(m.types().slice(-2)).toEqual(['rolled_over', 'answer_checked']);
    expect(m.effects()).toEqual([{ type: 'run_tool', toolCallId: 'c', run: 2 }]);
    m.checked('c', 'ABC');
    expect(m.types()).toEqual([]);
    m.tool('c');
    expectViewsAgree(m.events);
  });

  it('is reverted when the check fails, and the question is open as it was, under its old deadline', () => {
    const m = asked(CODE);
    const before = m.pending[0];
    m.advance(MINUTE_MS);
    m.resolve('c', answer('abc'), { requestId: 'r' });
    m.checkFails('c', 'does not match');
    expect(m.types().slice(-2)).toEqual(['resolution_reverted', 'suspension']);
    const problems = [{ path: '/resolution/value', message: 'does not match' }];
    const reverted = { requestId: 'r', problems };
    expect(m.pending).toEqual([{ ...before, openedAt: m.clock.iso(), reverted }]);
    expect(m.resolve('c', answer('ABC'), { requestId: 'r' }).verdict).toBe('accepted');
    expectViewsAgree(m.events);
  });

  it('may be refused by the tool’s own code: the question is open again, and the next run is another', () => {
    const m = asked();
    const before = m.pending[0];
    m.advance(MINUTE_MS);
    m.resolve('c', answer(7), { requestId: 'r' });
    toolFinished(m.machine, 'c', {
      refused: [{ path: '/cents', message: 'too many' }],
      executionMs: 1,
    });
    expect(m.last('resolution_reverted')).toMatchObject({
      requestId: 'r',
      run: 2,
      problems: [{ path: '/resolution/value/cents', message: 'too many' }],
    });
    const problems = [{ path: '/resolution/value/cents', message: 'too many' }];
    const reverted = { requestId: 'r', problems };
    expect(m.pending).toEqual([{ ...before, openedAt: m.clock.iso(), reverted }]);
    m.resolve('c', answer(3), { requestId: 'r' });
    expect(m.effects()).toEqual([{ type: 'run_tool', toolCallId: 'c', run: 3 }]);
    expectViewsAgree(m.events);
  });

  it('that was never given cannot be refused', () => {
    for (const refused of [[], 'no', [7], undefined]) {
      const m = aMachineWith(modelCalls([plannedCall('c')]));
      toolFinished(m.machine, 'c', { refused: refused as never, executionMs: 1 });
      expect(m.last('tool_result').result.envelope).toEqual({
        ok: false,
        error: { code: 'tool_error', message: TEXTS.answerNotAsked('server.tool') },
      });
    }
  });
});

describe('the second question of a call', () => {
  it('is another: the same words and form have another digest', () => {
    const m = askedTwice();
    const [first, second] = m.all('suspension').map(({ suspension }) => suspension);
    expect(second?.ask).toBe(2);
    expect(second?.argsDigest).not.toBe(first?.argsDigest);
  });

  it('accepts no answer that does not name its question', () => {
    const m = askedTwice();
    expect(m.resolve('c', answer(2))).toMatchObject({
      verdict: 'invalid',
      problems: [{ path: '/argsDigest', message: expect.stringContaining('question 2') as string }],
    });
    expect(m.resolve('c', { type: 'decline' }).verdict).toBe('invalid');
    expect(m.pending).toHaveLength(1);
    expect(m.resolve('c', answer(2), digest(m)).verdict).toBe('accepted');
    expect(entry(m).asked).toMatchObject({ asks: 2, answer: { value: 2 } });
  });

  it('answers a reply to the first with stale, by whom and since when; over a roll-over, too', {
    ...promise('G53'),
  }, () => {
    const m = askedTwice();
    const first = digestOf(m.all('suspension')[0]?.suspension);
    for (const again of [m, m.rollOver()])
      expect(again.resolve('c', answer(9), first)).toEqual({
        verdict: 'stale',
        why: 'already_resolved',
        status: 'awaiting_answer',
        by: 'ben',
        at: m.last('resolution').at,
      });
    expect(m.all('resolution')).toHaveLength(1);
  });

  it('answers a repeat of the first reply with duplicate', () => {
    const m = askedTwice();
    expect(m.resolve('c', answer(1), { requestId: 'first' })).toMatchObject({
      verdict: 'duplicate',
      first: { verdict: 'accepted' },
    });
  });

  it('refuses the digest of anything else', () => {
    const m = askedTwice();
    for (const argsDigest of ['ask:2:x', plannedCall('c').argsDigest, 7])
      expect(m.resolve('c', answer(2), { argsDigest }).verdict).toBe('invalid');
  });

  it('can have the same answer by hand, without a request id', () => {
    const m = asked();
    const by = { toolCallId: 'c', resolution: answer(1), actor: actor('ben') };
    expect(resolve(m.machine, by).verdict).toBe('accepted');
    asks(m, 'c');
    expect(resolve(m.machine, { ...by, ...digest(m) }).verdict).toBe('accepted');
    m.tool('c');
    expectInvariants(m);
  });

  it('has none of the state of the first, and starts its clock anew', () => {
    const m = asked({ ...NUMBER, state: STATE });
    m.advance(MINUTE_MS);
    m.resolve('c', answer(1));
    asks(m, 'c');
    expect(m.pending[0]?.deadline).toBe(m.clock.iso(ANSWER_MS));
    m.resolve('c', answer(2), digest(m));
    expect(entry(m).asked).toEqual({ asks: 2, answer: { value: 2 }, actor: actor('ben') });
  });

  it('comes from a loop when there are too many: the call is stopped with that reason', () => {
    const m = asked();
    for (let count = 2; count <= MAX_ASKS_PER_CALL; count += 1) {
      m.resolve('c', answer(count), digest(m));
      asks(m, 'c');
    }
    m.resolve('c', answer(0), digest(m));
    asks(m, 'c');
    expect(m.last('tool_result').result.envelope).toEqual({
      ok: false,
      error: {
        code: 'tool_error',
        message: TEXTS.tooManyAsks('server.tool', MAX_ASKS_PER_CALL),
      },
    });
  });
});

describe('a gated tool that asks', () => {
  const gated = (): MachineUnderTest => {
    const m = aMachineWith(modelCalls([gatedCall('c')]));
    m.resolve('c', { type: 'approve' }, { requestId: 'ok', actor: actor('cleo') });
    asks(m, 'c');
    return m;
  };

  it('never reads an approval as the answer, with any content (N1)', promise('G53'), () => {
    const m = gated();
    for (const resolution of [{ type: 'approve' }, { type: 'approve', input: 7 }, { type: 'deny' }])
      for (const fields of [{}, digest(m)])
        expect(m.resolve('c', resolution as never, fields)).toMatchObject({
          verdict: 'stale',
          openKind: 'elicitation',
        });
    expect(m.resolve('c', { type: 'approve' }, { requestId: 'ok' }).verdict).toBe('duplicate');
    expect(m.pending).toHaveLength(1);
  });

  it('keeps its approver; the answer is another actor’s', () => {
    const m = gated();
    m.resolve('c', answer(1), { actor: actor('dora') });
    expect(m.state.calls['c']?.approver?.id).toBe('cleo');
    expect(entry(m).asked?.actor.id).toBe('dora');
    expect(m.effects()).toEqual([{ type: 'run_tool', toolCallId: 'c', run: 2 }]);
  });

  it('is not gated again', () => {
    const m = gated();
    m.resolve('c', answer(1));
    m.tool('c');
    expect(m.all('suspension').map(({ suspension }) => suspension.kind)).toEqual([
      'approval',
      'elicitation',
    ]);
    expectViewsAgree(m.events);
  });
});

describe('any number of questions and answers, in any order', () => {
  it('each answer is accepted for the question that it names, once; the tool is entered once for each', {
    ...promise('G53'),
  }, () => {
    const move = fc.record({
      kind: fc.constantFrom('answer', 'answer', 'old', 'blind', 'repeat', 'restart', 'clock'),
      pick: fc.nat(100),
    });
    fc.assert(
      fc.property(fc.array(move, { minLength: 1, maxLength: 40 }), (moves) => {
        const m = asked({ ...NUMBER, state: 1 });
        const taken: string[] = [];
        let sent: Record<string, unknown> = {};
        let value = 0;
        for (const [index, { kind, pick }] of moves.entries()) {
          const open = m.all('tool_asked').at(-1)!;
          const earlier = m.all('tool_asked').slice(0, -1);
          const old = earlier[pick % Math.max(1, earlier.length)];
          const fields = { requestId: `r${index}` };
          if (kind === 'restart') m.restart();
          else if (kind === 'clock') m.advance(1_000);
          else if (kind === 'repeat') {
            if (taken.length > 0)
              expect(m.resolve('c', answer(value), sent).verdict).toBe('duplicate');
          } else if (kind === 'old' && old !== undefined)
            expect(m.resolve('c', answer(0), { ...fields, ...digestOf(old) }).verdict).toBe(
              'stale',
            );
          else if (kind === 'blind' && open.ask > 1)
            expect(m.resolve('c', answer(0), fields).verdict).toBe('invalid');
          else if (open.ask < MAX_ASKS_PER_CALL) {
            sent = { ...fields, ...digestOf(open) };
            value = index;
            expect(m.resolve('c', answer(value), sent).verdict).toBe('accepted');
            taken.push(open.argsDigest);
            expect(entry(m)).toMatchObject({
              run: taken.length + 1,
              asked: { asks: open.ask, state: open.ask, answer: { value: index } },
            });
            asks(m, 'c', { ...NUMBER, state: open.ask + 1 });
          }
          expectInvariants(m);
        }
        expect(taken).toEqual(
          m
            .all('tool_asked')
            .slice(0, -1)
            .map((event) => event.argsDigest),
        );
        expect(new Set(taken).size).toBe(taken.length);
      }),
      { numRuns: 100 },
    );
  });
});
