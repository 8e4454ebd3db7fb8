/** Remembered decisions: their matches, their use, their end, and how they are refused and revoked. */

import { describe, expect, it } from 'vitest';
import { snapshotOf } from '../../../../src/core/view/snapshot.js';
import { foldView } from '../../../../src/core/view/view.js';
import type { PlannedCall } from '../../../../src/protocol/calls/plan.js';
import type { Resolution } from '../../../../src/protocol/calls/resolutions.js';
import type { Remember } from '../../../../src/protocol/calls/rules.js';
import type { ConversationSnapshot } from '../../../../src/protocol/conversation/conversation.js';
import type { Json } from '../../../../src/protocol/values/json.js';
import { toolPrepared } from '../../../support/builders/call-ends.js';
import {
  actor,
  brokenCall,
  gatedCall,
  modelCalls,
  modelSays,
} from '../../../support/builders/core-builders.js';
import { closeConversation, revokeRule } from '../../../support/builders/verbs.js';
import { promise } from '../../../support/promise.js';
import { aMachineWith, type MachineUnderTest } from '../../../support/schedules/core-driver.js';
import { expectInvariants, expectViewsAgree } from '../../../support/schedules/core-invariants.js';

const INPUT: Json = { to: 'ann', cents: 5, tags: ['a', 'b'], 'a/b': { '~': 1 } };
const gated = (id: string, over: Partial<PlannedCall> = {}): PlannedCall =>
  gatedCall(id, { input: INPUT, ...over });
const asking = (over: Partial<PlannedCall> = {}): MachineUnderTest =>
  aMachineWith(modelCalls([gated('c1', over)]));
const yes = (remember: unknown): Resolution => ({
  type: 'approve',
  remember: remember as Remember,
});
const no = (remember: Remember): Resolution => ({ type: 'deny', reason: 'never', remember });

/** The next step asks for this call. */
function next(m: MachineUnderTest, call: PlannedCall): MachineUnderTest {
  if (m.effectTypes().includes('run_tool')) m.tool('c1');
  m.mark();
  return m.model(modelCalls([call]));
}

function readersView(m: MachineUnderTest): ConversationSnapshot | undefined {
  let view: ConversationSnapshot | undefined;
  for (const event of m.events) view = foldView(view, event);
  return view;
}

describe('a decision that is remembered', () => {
  it('decides the next call of its tool at once, under its author’s name; the log names the rule', {
    ...promise('G64'),
  }, () => {
    const m = asking();
    m.resolve('c1', yes({ for: 'conversation' }), { actor: actor('ben', { roles: ['lead'] }) });
    expect(m.types()).toEqual(['resolution', 'rule_remembered']);
    const { ruleId } = m.last('rule_remembered').rule;
    next(m, gated('c2', { input: { other: true } }));
    expect(m.types().slice(2)).toEqual(['tool_call', 'resolution']);
    expect(m.last('resolution')).toMatchObject({
      toolCallId: 'c2',
      resolution: { type: 'approve' },
      actor: { id: 'ben' },
      rule: { ruleId },
    });
    expect(m.effectTypes()).toEqual(['run_tool']);
    expect(m.state.calls['c2']?.approver).toMatchObject({ id: 'ben', roles: ['lead'] });
    expect(readersView(m)).toEqual(snapshotOf(m.state));
    expect(snapshotOf(m.state).rules).toMatchObject([{ ruleId, tool: 'server.tool' }]);
  });

  it('may be a denial, with its reason', () => {
    const m = asking();
    m.resolve('c1', no({ for: 'conversation' }));
    expect(m.types()).toEqual(['resolution', 'rule_remembered', 'tool_result']);
    next(m, gated('c2'));
    expect(m.last('tool_result')).toMatchObject({
      toolCallId: 'c2',
      result: { status: 'denied', envelope: { error: { message: 'never' } }, actor: { id: 'ben' } },
    });
    expect(m.effectTypes()).toEqual(['call_model']);
  });

  it('does not affect other tools, calls that wait already, or calls that need no approval', () => {
    const m = aMachineWith(modelCalls([gated('c1'), gated('waits')]));
    m.resolve('c1', yes({ for: 'conversation' }));
    expect(m.pending).toMatchObject([{ toolCallId: 'waits' }]);
    m.resolve('waits', { type: 'deny' });
    next(m, gated('c3', { name: 'other.tool' }));
    expect(m.pending).toMatchObject([{ toolCallId: 'c3' }]);
    m.resolve('c3', { type: 'deny' });
    m.model(modelCalls([gated('c4', { approval: { needed: false } })]));
    expect(m.all('resolution').filter(({ toolCallId }) => toolCallId === 'c4')).toEqual([]);
  });

  it('decides a detached call, too: the model reads "pending" first, and the outcome as new input', () => {
    const m = asking();
    m.resolve('c1', yes({ for: 'conversation' }));
    next(m, gated('c2', { mode: 'detach' }));
    expect(m.types().slice(2)).toEqual(['tool_call', 'tool_result', 'resolution']);
    expect(m.last('resolution')).toMatchObject({ toolCallId: 'c2', actor: { id: 'ben' } });
    expect(m.effectTypes()).toEqual(['call_model', 'run_tool']);
    expectInvariants(m);
    const denied = asking();
    denied.resolve('c1', no({ for: 'conversation' }));
    next(denied, gated('c2', { mode: 'detach' }));
    expect(denied.last('inbox_event')).toMatchObject({
      eventId: 'tr:c2',
      result: { status: 'denied', envelope: { error: { message: 'never' } } },
    });
    expectInvariants(denied);
    expectViewsAgree(denied.events);
  });

  it('does not admit a call that its policy denies', promise('G64'), () => {
    const m = asking();
    m.resolve('c1', yes({ for: 'conversation' }));
    const error = { code: 'denied' as const, message: 'policy' };
    next(m, { ...brokenCall('c2'), name: 'server.tool', approval: { needed: true }, error });
    expect(m.last('tool_result').result.envelope).toEqual({ ok: false, error });
    expect(m.effectTypes()).toEqual(['call_model']);
  });

  it(
    'decides only where its author may: for other audiences an approval is requested',
    promise('G64'),
    () => {
      const m = asking();
      m.resolve('c1', yes({ for: 'conversation' }));
      next(m, gated('c2', { approval: { needed: true, audience: { roles: ['cfo'] } } }));
      expect(m.pending).toMatchObject([{ toolCallId: 'c2' }]);
      m.resolve('c2', { type: 'deny' }, { actor: actor('x', { roles: ['cfo'] }) });
      m.model(modelSays('done'));
      m.send('mine', { actor: actor('ben') });
      const approval = { needed: true as const, audience: { exclude: ['requester'] } };
      m.model(modelCalls([gated('c3', { approval })]));
      expect(m.pending).toMatchObject([{ toolCallId: 'c3' }]);
    },
  );

  it('ends with its turn when its scope is the turn; one of the conversation stays, over a roll-over and a re-opening', {
    ...promise('G64'),
  }, () => {
    const m = asking();
    m.resolve('c1', yes({ for: 'turn' }));
    m.tool('c1').model(modelCalls([gated('c2')]));
    expect(m.effectTypes()).toEqual(['run_tool']);
    m.tool('c2').model(modelSays('done'));
    expect(snapshotOf(m.state)).not.toHaveProperty('rules');
    expect(readersView(m)).toEqual(snapshotOf(m.state));
    m.send('again');
    m.model(modelCalls([gated('c3')]));
    expect(m.pending).toMatchObject([{ toolCallId: 'c3' }]);
    m.resolve('c3', yes({ for: 'conversation' }));
    m.tool('c3').model(modelSays('done'));
    m.rollOver();
    closeConversation(m.machine);
    m.reopen();
    m.send('once more');
    m.model(modelCalls([gated('c4')]));
    expect(m.effectTypes()).toEqual(['run_tool']);
    expect(readersView(m)).toEqual(snapshotOf(m.state));
  });

  it('yields to a denial that matches as well, and replaces an earlier one with the same match', () => {
    const m = asking();
    m.resolve('c1', yes({ for: 'conversation' }));
    next(m, gated('c2', { approval: { needed: true, audience: { users: ['eve'] } } }));
    m.resolve('c2', no({ for: 'conversation', match: { '/to': 'ann' } }), { actor: actor('eve') });
    expect(snapshotOf(m.state).rules).toHaveLength(2);
    m.model(modelCalls([gated('c3'), gated('c4', { input: { to: 'bob' } })]));
    expect(m.last('tool_result')).toMatchObject({ toolCallId: 'c3', result: { status: 'denied' } });
    expect(m.effects()).toMatchObject([{ type: 'run_tool', toolCallId: 'c4' }]);
  });

  it('of a turn does not affect a detached call of the turn before whose preflight ends only now', () => {
    const shaping = { executor: 'client', preflight: true, mode: 'detach' } as const;
    const m = aMachineWith(modelCalls([gated('c1', { ...shaping, name: 'server.tool' })]));
    m.model(modelSays('asked'));
    m.send('and now?');
    m.model(modelCalls([gated('c2')]));
    m.resolve('c2', yes({ for: 'turn' }));
    toolPrepared(m.machine, 'c1', { ok: true, payload: 1, argsDigest: 'sha256:p' });
    expect(m.pending).toMatchObject([{ toolCallId: 'c1', kind: 'approval' }]);
    expectInvariants(m);
  });

  it('is forgotten once revoked; a second revocation finds no such rule', promise('G64'), () => {
    const m = asking();
    m.resolve('c1', yes({ for: 'conversation' }));
    const { ruleId } = m.last('rule_remembered').rule;
    expect(revokeRule(m.machine, { ruleId, actor: actor('eve') })).toMatchObject({
      reply: { ruleId },
    });
    expect(m.last('rule_revoked')).toMatchObject({ ruleId, actor: { id: 'eve' } });
    next(m, gated('c2'));
    expect(m.pending).toHaveLength(1);
    m.mark();
    for (const input of [{ ruleId }, { ruleId: '__proto__' }, {}, null, 7, { ruleId: {} }])
      expect(revokeRule(m.machine, input)).toHaveProperty('refusal');
    expect(m.types()).toEqual([]);
  });

  it('is one of fifty at most', () => {
    const m = asking();
    const rules = Array.from({ length: 50 }, (_, index) => ({
      ...{ ruleId: `r${index}`, tool: 'x', decision: 'approve' as const, for: 'turn' as const },
      ...{ match: { '/n': index }, actor: actor('ben') },
    }));
    m.machine.record(rules.map((rule) => ({ type: 'rule_remembered' as const, rule })));
    expect(m.resolve('c1', yes({ for: 'turn' }))).toMatchObject({
      verdict: 'invalid',
      problems: [
        { path: '/resolution/remember', message: expect.stringContaining('50 rules') as string },
      ],
    });
    expect(m.resolve('c1', { type: 'approve' }).verdict).toBe('accepted');
  });
});

describe('a match', () => {
  const ordinary: Record<string, Json> = { '/to': 'ann', '/tags/1': 'b', '/a~1b/~0': 1 };
  const inputs: [string, Json, boolean][] = [
    ['the same', INPUT, true],
    ['the same and more', { ...(INPUT as object), more: 1 }, true],
    ['a missing field', { to: 'ann', tags: ['a', 'b'] }, false],
    ['another value', { ...(INPUT as object), to: 'eve' }, false],
    ['a value of another type', { ...(INPUT as object), tags: { 1: 'b' } }, true],
    ['a shorter list', { ...(INPUT as object), tags: ['b'] }, false],
    ['a text where a list was', { ...(INPUT as object), tags: 'ab' }, false],
    ['nothing', null, false],
    ['a text', 'to', false],
    ['a list', [], false],
  ];
  it.each(inputs)('of %s', (_title, input, fits) => {
    const m = asking();
    expect(m.resolve('c1', yes({ for: 'turn', match: ordinary })).verdict).toBe('accepted');
    next(m, gated('c2', { input }));
    expect(m.effectTypes()).toEqual([fits ? 'run_tool' : 'await_deadline']);
  });

  it('reads own fields only, under any name', () => {
    const own = JSON.parse('{"__proto__": {"admin": true}, "constructor": "x"}') as Json;
    const match = { '/__proto__/admin': true, '/constructor': 'x' };
    const m = asking({ input: own });
    expect(m.resolve('c1', yes({ for: 'turn', match })).verdict).toBe('accepted');
    m.rollOver();
    next(m, gated('c2', { input: { constructor: 'x' } }));
    expect(m.pending).toHaveLength(1);
    m.resolve('c2', { type: 'deny' });
    m.model(modelCalls([gated('c3', { input: own })]));
    expect(m.effectTypes()).toEqual(['run_tool']);
    expect(({} as { admin?: boolean }).admin).toBeUndefined();
  });

  it.each<[string, unknown, string]>([
    ['a word', 'turn', '/resolution/remember'],
    ['nothing', null, '/resolution/remember'],
    ['no scope', {}, '/resolution/remember/for'],
    ['an unknown scope', { for: 'ever' }, '/resolution/remember/for'],
    ['an unknown wish', { for: 'turn', until: 1 }, '/resolution/remember/until'],
    ['a list', { for: 'turn', match: ['/to'] }, '/resolution/remember/match'],
    ['an empty match', { for: 'turn', match: {} }, '/resolution/remember/match'],
    [
      'too long',
      { for: 'turn', match: { '/to': 'x'.repeat(3_000) } },
      '/resolution/remember/match',
    ],
    ['no pointer', { for: 'turn', match: { to: 'ann' } }, '/resolution/remember/match/to'],
    [
      'a field that is not there',
      { for: 'turn', match: { '/too': 'ann' } },
      '/resolution/remember/match/~1too',
    ],
    ['another value', { for: 'turn', match: { '/to': 'eve' } }, '/resolution/remember/match/~1to'],
    [
      'an inherited field',
      { for: 'turn', match: { '/toString': 'x' } },
      '/resolution/remember/match/~1toString',
    ],
    [
      'a length',
      { for: 'turn', match: { '/tags/length': 2 } },
      '/resolution/remember/match/~1tags~1length',
    ],
  ])('is refused when it is %s; the call stays open', (_title, remember, path) => {
    const m = asking();
    expect(m.resolve('c1', yes(remember))).toMatchObject({
      verdict: 'invalid',
      problems: [{ path }],
    });
    expect(m.types()).toEqual([]);
    expect(m.pending).toHaveLength(1);
  });

  it('does not go with an edit, which says nothing about other calls', () => {
    const m = asking();
    const resolution: Resolution = {
      type: 'approve',
      input: { to: 'x' },
      remember: { for: 'turn' },
    };
    expect(m.resolve('c1', resolution).verdict).toBe('invalid');
    expect(m.resolve('c1', { ...resolution, input: INPUT }).verdict).toBe('accepted');
  });
});
