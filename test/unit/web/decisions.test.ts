/** Parts of decisions: selections, remembered rules, and what was said before. */
import type { MessageView, Rule } from 'colloquy/browser';
import type { WorklistItem } from 'colloquy/browser/worklist';
import { describe, expect, it } from 'vitest';
import {
  isMatched,
  knownRules,
  matchable,
  scopeWords,
  withMatch,
} from '../../../web/inbox/model/remember.js';
import type { Row } from '../../../web/inbox/model/rows.js';
import { saidBefore } from '../../../web/inbox/model/said.js';
import { allOf, MAX_AT_ONCE, summaryOf, toggled } from '../../../web/inbox/model/selection.js';
import { promise } from '../../support/promise.js';

const AT = '2030-01-01T00:00:07.000Z';
const NOW = Date.parse('2030-01-01T00:00:10.000Z');
const ANN = { id: 'ann', name: 'Ann', verified: true, channel: 'api' } as const;

function row(ref: string, more: Partial<WorklistItem> & { isOver?: boolean } = {}): Row {
  const { isOver = false, ...rest } = more;
  const item = { ref, tool: 'pay', kind: 'approval', mayAnswer: true, ...rest } as WorklistItem;
  return { item, isOver };
}

describe('a selection', () => {
  const rows = ['a', 'b', 'c', 'd'].map((ref) => row(ref, { isOver: ref === 'c' }));
  const of = (...refs: readonly string[]) => new Set(refs);

  it.each([
    [of(), 'b', undefined, 'b'],
    [of('b'), 'b', undefined, ''],
    [of('a'), 'd', 'a', 'a b d'],
    [of('d'), 'a', 'd', 'd a b'],
    [of('a', 'b', 'd'), 'b', 'd', 'a'],
    [of(), 'b', 'gone', 'b'],
  ])('of %o with %s from %s is %s', (selected, ref, from, expected) => {
    expect([...toggled(rows, selected, { ref, from })].join(' ')).toBe(expected);
    expect([...allOf(rows)]).toEqual(['a', 'b', 'd']);
  });

  it('is summed by tool, and says what is left out and why', promise('G377'), () => {
    const all = [
      ...[row('a'), row('b', { tool: 'mail', risk: 'high' }), row('c')],
      ...[row('d', { kind: 'elicitation' }), row('e', { mayAnswer: false })],
      ...[row('f', { isOver: true }), row('g'), row('h')],
    ];
    const selected = new Set(all.map(({ item }) => item.ref));
    selected.delete('h');
    const isBusy = (ref: string) => (ref === 'g' ? 'being edited' : undefined);
    const summary = summaryOf({ rows: all, items: [] }, selected, isBusy);
    expect(summary).toMatchObject({
      items: [{ ref: 'a' }, { ref: 'b' }, { ref: 'c' }],
      byTool: [
        ['pay', 2],
        ['mail', 1],
      ],
      highRisk: 1,
      leftOut: [
        ['needing an answer of its own', 1],
        ['not yours to decide', 1],
        ['no longer waiting', 1],
        ['being edited', 1],
      ],
    });
  });

  it('has the calls that the list does not show, too', promise('G377'), () => {
    const shown = [row('a'), row('b')];
    const hidden = row('h', { tool: 'mail' });
    const items = [...shown, hidden].map(({ item }) => item);
    const summary = summaryOf({ rows: shown, items }, of('a', 'h', 'gone'), () => undefined);
    expect(summary).toMatchObject({
      items: [{ ref: 'a' }, { ref: 'h' }],
      hidden: 1,
      leftOut: [['no longer in the list', 1]],
    });
  });

  it('is bounded', () => {
    const many = Array.from({ length: MAX_AT_ONCE + 2 }, (_, index) => row(`r${index}`));
    const { items, leftOut } = summaryOf({ rows: many, items: [] }, allOf(many), () => undefined);
    expect([items.length, leftOut[0]?.[1]]).toEqual([MAX_AT_ONCE, 2]);
  });
});

describe('a remembered decision', () => {
  it('is for calls with the chosen values, in words', () => {
    const turn = { for: 'turn' } as const;
    const one = withMatch(turn, ['a/b', 'x'], true);
    expect(one).toEqual({ for: 'turn', match: { '/a~1b': 'x' } });
    expect([isMatched(one, 'a/b'), isMatched(turn, 'a/b')]).toEqual([true, false]);
    expect(withMatch(one, ['a/b', 'x'], false)).toEqual(turn);
    expect(scopeWords('pay', withMatch(one, ['n', 1], true))).toBe(
      'later calls of pay until this turn ends, with a/b = "x" and n = 1',
    );
    expect(scopeWords('pay', { for: 'conversation' })).toBe(
      'later calls of pay in this conversation, whatever their arguments',
    );
  });

  it('can match as much as the conversation takes', () => {
    expect(matchable({ long: 'x'.repeat(3_000), short: 1 })).toEqual([['short', 1]]);
    expect(matchable([1])).toEqual([]);
    const many = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`f${index}`, 1]));
    expect(matchable(many)).toHaveLength(20);
  });

  it('is known by its tool and turn, and says whether it fits', () => {
    const rule = (ruleId: string, more: Partial<Rule> = {}): Rule => ({
      ...{ ruleId, tool: 'pay', decision: 'deny', for: 'conversation', actor: ANN, at: AT },
      ...more,
    });
    const rules = [
      rule('1', { match: { '/to': 'x' } }),
      rule('2', { tool: 'mail' }),
      rule('3', { for: 'turn', turnId: 'other' }),
      rule('4', { match: { '/to': 'y' }, decision: 'approve' }),
      // As another client than this page may remember them.
      rule('5', { match: { '/by/roles/0': 'lead', '/sum': { of: 1, in: 'EUR' } } }),
    ];
    const input = { to: 'x', by: { roles: ['lead'] }, sum: { in: 'EUR', of: 1 } };
    const known = knownRules(rules, { tool: 'pay', input, turnId: 't' }, NOW);
    expect(known.map(({ rule: { ruleId }, fits }) => [ruleId, fits])).toEqual([
      ['5', true],
      ['4', false],
      ['1', true],
    ]);
    expect(known[2]?.text).toBe(
      'Ann denies later calls of pay in this conversation, with to = "x", remembered 3 s ago',
    );
    expect(knownRules(undefined, { tool: 'pay', input: 1, turnId: 't' }, NOW)).toEqual([]);
  });
});

it('messages before a call name who gave them, and whether they can be trusted', () => {
  const call = (toolCallId: string, more: object) => ({
    key: toolCallId,
    toolCallId,
    name: 'read',
    ...more,
  });
  const messages = [
    { role: 'user', key: 'u', text: 'Pay it', from: ANN },
    {
      ...{ role: 'assistant', key: 'm1', text: '' },
      calls: [
        call('1', { result: { ok: true, result: { a: 1 } }, provenance: 'trusted' }),
        call('2', { result: { ok: true, result: 'page' }, provenance: 'untrusted' }),
        call('3', { result: { ok: false, error: { code: 'x', message: 'no' } } }),
      ],
    },
    { role: 'event', key: 'e', kind: 'paid', payload: { n: 1 } },
    { role: 'assistant', key: 'm2', text: 'I pay.', calls: [call('9', {}), call('8', {})] },
    { role: 'user', key: 'later', text: 'Later' },
  ] as unknown as readonly MessageView[];
  const said = saidBefore(messages, '9').map(({ speaker, trust, text }) => [speaker, trust, text]);
  expect(said).toEqual([
    ['Ann', 'untrusted', 'Pay it'],
    ['Result of read', 'trusted', '{\n  "a": 1\n}'],
    ['Result of read', 'untrusted', 'page'],
    ['Result of read', 'untrusted', 'x: no'],
    ['Event paid', 'untrusted', '{\n  "n": 1\n}'],
    ['Model', 'model', 'I pay.'],
  ]);
  expect(saidBefore(messages, 'unknown')).toEqual([]);
});
