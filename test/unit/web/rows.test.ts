/** The rows of the inbox: their order, their search, and that none moves by itself. */
import type { WorklistItem } from 'colloquy/browser/worklist';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  arranged,
  type Choice,
  EXPIRING_MS,
  neighbour,
  rowsOf,
  toolCounts,
  viewCounts,
  waitingChanges,
} from '../../../web/inbox/model/rows.js';

const NOW = Date.parse('2030-01-01T00:00:00.000Z');
const time = (ms: number) => new Date(NOW + ms).toISOString();

function item(ref: string, more: Partial<WorklistItem> = {}): WorklistItem {
  return {
    ...{ tenant: 'default', conversationId: `c-${ref}`, ref, toolCallId: 'call_1', turnId: 't1' },
    ...{ tool: 'pay', agent: 'shop', executor: 'server', kind: 'approval', preview: '{}' },
    ...{ openedAt: time(0), deadline: time(7_200_000), requesters: [], audience: 'everyone' },
    ...{ mayAnswer: true, why: 'everyone may' },
    ...more,
  };
}

const SEEN = { now: NOW, snoozes: new Map<string, number>() };
const DEFAULT: Choice = { view: 'mine', sort: 'deadline', search: '' };
const refs = (items: readonly WorklistItem[]) => items.map(({ ref }) => ref).join(' ');
const shownBy = (items: readonly WorklistItem[], choice: Partial<Choice>) =>
  refs(arranged(items, { ...DEFAULT, ...choice }, SEEN));
const mapOf = (items: readonly WorklistItem[]) => new Map(items.map((one) => [one.ref, one]));

describe('the list', () => {
  const items = [
    item('a', { deadline: time(EXPIRING_MS), openedAt: time(-3) }),
    item('b', { deadline: time(EXPIRING_MS - 1), openedAt: time(-1), requesters: ['Ann'] }),
    item('c', { deadline: time(-1), openedAt: time(-2), title: 'Refund', preview: '{"n":"B 7"}' }),
  ];

  it('is in the order of deadlines, or of age', () => {
    expect(shownBy(items, {})).toBe('c b a');
    expect(shownBy(items, { sort: 'age' })).toBe('a c b');
  });

  it('of expiring calls has those with less than an hour, late ones included', () => {
    expect(shownBy(items, { view: 'expiring' })).toBe('c b');
  });

  it('by tool is in the order of tools, then of deadlines', () => {
    const tools = [item('d', { tool: 'z' }), item('e', { tool: 'b' }), ...items];
    expect(shownBy(tools, { sort: 'tool' })).toBe('e c b a d');
    expect(shownBy(tools, { tool: 'z' })).toBe('d');
    expect(toolCounts(tools, 'mine', SEEN)).toEqual([
      ['pay', 3],
      ['b', 1],
      ['z', 1],
    ]);
  });

  it('of a role, or of unknown outcomes, has those alone', () => {
    const others = [
      item('d', { why: 'role lead' }),
      item('e', { why: 'user role and role lead' }),
      item('f', { why: 'user role' }),
      item('g', { why: 'role lead', mayAnswer: false }),
      item('h', { kind: 'outcome', mayAnswer: false }),
    ];
    expect(shownBy(others, { view: 'roles' })).toBe('d e');
    expect(shownBy(others, { view: 'outcome' })).toBe('h');
  });

  it('of snoozed calls has those that the other views leave out', () => {
    const seen = { now: NOW, snoozes: new Map([['b', NOW + 1]]) };
    const shown = (view: Choice['view']) => refs(arranged(items, { ...DEFAULT, view }, seen));
    expect(shown('mine')).toBe('c a');
    expect(shown('snoozed')).toBe('b');
    expect(shown('all')).toBe('c b a');
    expect(viewCounts(items, 'mine', seen)).toEqual({ mine: 2, roles: 0, expiring: 1, snoozed: 1 });
    expect(viewCounts(items, 'all', seen)).toEqual({ all: 3 });
  });

  it.each([
    ['refund', 'c'],
    [' ANN  ', 'b'],
    ['pay b', 'c b'],
    ['c-a', 'a'],
    ['nothing', ''],
  ])('finds %j: %j', (search, found) => {
    expect(shownBy(items, { search })).toBe(found);
  });
});

describe('rows that are shown', () => {
  it('keep their places when calls come and go', () => {
    const subset = fc.subarray(['a', 'b', 'c', 'd', 'e', 'f'].map((ref) => item(ref)));
    fc.assert(
      fc.property(subset, subset, (shown, now) => {
        const rows = rowsOf(shown, mapOf(now));
        expect(refs(rows.map((row) => row.item))).toBe(refs(shown));
        const { fresh, over } = waitingChanges(rows, now);
        expect(shown.length + fresh - over).toBe(now.length);
      }),
    );
  });

  it('have the newest state of their call, and the last one once it is over', () => {
    const [before, after] = [item('a'), item('a', { deadline: time(9) })];
    expect(rowsOf([before], mapOf([after]))).toEqual([{ item: after, isOver: false }]);
    expect(rowsOf([before], new Map())).toEqual([{ item: before, isOver: true }]);
  });

  it.each([
    [undefined, 1, 'a'],
    [undefined, -1, 'd'],
    ['a', 1, 'c'],
    ['d', -1, 'c'],
    ['d', 1, 'd'],
    ['a', -1, 'a'],
  ] as const)('from %s, %i leads to %s, past calls that are over', (from, step, to) => {
    const shown = ['a', 'b', 'c', 'd'].map((ref) => item(ref));
    const rows = rowsOf(shown, mapOf(shown.filter(({ ref }) => ref !== 'b')));
    expect(neighbour(rows, from, { step })).toBe(to);
  });
});
