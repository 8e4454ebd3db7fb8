/** The sentences of the inbox, and its keys. */
import type { Verdict } from 'colloquy/browser';
import { describe, expect, it } from 'vitest';
import { VERDICT_PRECEDENCE } from '../../../src/protocol/calls/resolutions.js';
import { agoWords, durationWords } from '../../../src/react/words/times.js';
import {
  overSentence,
  problemSentence,
  verdictSentence,
} from '../../../src/react/words/verdicts.js';
import { commandOf, GO, KEYS, matching } from '../../../web/inbox/model/keys.js';
import { deadlineState } from '../../../web/inbox/model/times.js';
import { extendSentence, groupSentence, newsSentence } from '../../../web/inbox/model/words.js';

const NOW = Date.parse('2030-01-01T00:00:10.000Z');
const AT = '2030-01-01T00:00:07.000Z';
const ACCEPTED = { verdict: 'accepted', toolCallId: 'c', seq: 1 } as const;

const SENTENCES: readonly (readonly [Verdict, string])[] = [
  [ACCEPTED, 'Denied'],
  [{ ...ACCEPTED, checked: false }, 'Denied; a worker still checks it'],
  [
    { ...ACCEPTED, verdict: 'accepted_late' },
    'Denied after the deadline: the agent gets it as new input',
  ],
  [{ verdict: 'duplicate', first: ACCEPTED }, 'Denied'],
  [
    { verdict: 'queued', requestId: 'r', reason: 'no_worker' },
    'No worker is up; your answer is kept',
  ],
  [{ verdict: 'queued', requestId: 'r' }, 'Not judged yet; your answer is kept'],
  [
    { verdict: 'stale', why: 'already_resolved', status: 'denied', by: 'Lena', at: AT },
    'Decided by Lena 3 s ago: denied',
  ],
  [{ verdict: 'stale', why: 'already_resolved', status: 'expired' }, 'Decided: expired'],
  [
    {
      verdict: 'stale',
      why: 'other_kind',
      status: 'awaiting_client',
      openKind: 'client_execution',
    },
    'The call waits for something else by now: client_execution',
  ],
  [{ verdict: 'stale', why: 'not_holder', status: 'running', by: 'tab' }, 'tab holds the call'],
  [
    { verdict: 'forbidden', reason: 'requesters may not decide' },
    'You may not answer this call: requesters may not decide',
  ],
  [{ verdict: 'expired', deadline: AT }, 'Too late: the deadline passed 3 s ago'],
  [
    { verdict: 'invalid', problems: [{ path: '/argsDigest', message: 'has changed' }] },
    'Not taken: /argsDigest has changed',
  ],
  [{ verdict: 'unknown', what: 'conversation' }, 'The conversation is gone'],
  [{ verdict: 'unknown', what: 'tool_call' }, 'The call is gone'],
];

describe('a verdict', () => {
  it.each(SENTENCES)('%j is: %s', (verdict, text) => {
    expect(verdictSentence(verdict, 'deny', NOW).text).toBe(text);
  });

  it('of each kind has a sentence, and only those that count are good', () => {
    const kinds = new Set(SENTENCES.map(([{ verdict }]) => verdict));
    expect([...kinds].sort()).toEqual([...VERDICT_PRECEDENCE].sort());
    for (const [verdict] of SENTENCES) {
      const counts = ['accepted', 'accepted_late', 'duplicate'].includes(verdict.verdict);
      const { tone } = verdictSentence(verdict, 'approve', NOW);
      expect(tone).toBe(counts ? 'good' : verdict.verdict === 'queued' ? 'kept' : 'bad');
    }
  });

  it('on a deadline, and a request without one, have their own', () => {
    const moved = { ...ACCEPTED, deadline: AT };
    expect(extendSentence(moved, NOW).text).toContain('Waits until');
    expect(extendSentence({ verdict: 'duplicate', first: moved }, NOW).tone).toBe('good');
    expect(extendSentence({ verdict: 'expired', deadline: AT }, NOW).tone).toBe('bad');
    const problem = { status: 403, code: 'forbidden', detail: 'No' };
    expect(problemSentence(problem).text).toBe('Not sent: No (forbidden)');
    const lost = { status: 0, code: 'unreachable', detail: 'No answer' };
    expect(problemSentence(lost).text).toContain('press again: nothing counts twice');
  });
});

describe('the sentence', () => {
  const outgoing = (verdict: Verdict) => ({
    ...{ ref: 'r', conversationId: 'c', toolCallId: 't', title: 'pay', deadline: AT },
    ...{ requestId: 'x', group: 'g', sendAt: NOW, resolution: { type: 'approve' } as const },
    ...{ state: 'done' as const, verdict },
  });

  it('on answers of one decision counts those that are equal', () => {
    const stale = {
      verdict: 'stale',
      why: 'already_resolved',
      status: 'denied',
      by: 'Lena',
    } as const;
    const answers = [ACCEPTED, ACCEPTED, stale].map(outgoing);
    expect(groupSentence(answers, NOW)).toEqual({
      ...{ text: '2: Approved · 1: Decided by Lena: denied', tone: 'bad' },
    });
    expect(groupSentence(answers.slice(1, 2), NOW).tone).toBe('good');
  });

  it('on a call that is over names who decided it', () => {
    const by = { id: 'u1', name: 'Lena', verified: true, channel: 'api' } as const;
    const decided = { type: 'deny', by, at: AT } as const;
    expect(overSentence({ decided }, 'me', NOW)).toBe('Decided by Lena 3 s ago: denied');
    expect(overSentence({ decided }, 'u1', NOW)).toBe('Decided by you 3 s ago: denied');
    expect(overSentence({ state: 'expired' }, 'me', NOW)).toBe('Waits no longer: expired');
    expect(overSentence({}, 'me', NOW)).toBe('Waits no longer');
  });

  it('on a new call is one for all texts', () => {
    const item = {
      ...{ tool: 'payments.refund', title: 'Refund! Really?\nYes. ', deadline: AT },
      ...{ requesters: ['Ann B.', 'Bo'], risk: 'high' },
    } as unknown as Parameters<typeof newsSentence>[0];
    const text = newsSentence(item, 2);
    expect(text).toMatch(
      /^New: Refund Really Yes \(payments\.refund\), high risk, for Ann B and Bo, until .*, and 2 more\.$/,
    );
    expect(text.match(/[.!?](?=\s|$)/g)).toHaveLength(1);
    expect(newsSentence({ ...item, title: 'x'.repeat(500) }, 0).length).toBeLessThan(220);
  });
});

it.each([
  [-5, '0 s'],
  [999, '0 s'],
  [61_000, '1 min 1 s'],
  [3_600_000, '1 h'],
  [90_061_000, '1 d 1 h'],
  [86_460_000, '1 d'],
])('%i ms are %s', (ms, words) => {
  expect(durationWords(ms)).toBe(words);
});

it('a deadline has its words, and the part of the time that is left', () => {
  const call = { openedAt: '2030-01-01T00:00:00.000Z', deadline: '2030-01-01T00:00:20.000Z' };
  expect(deadlineState(call, NOW)).toEqual({
    ...{ text: '10 s left', left: 0.5, isSoon: true, isOver: false },
  });
  expect(deadlineState(call, NOW + 12_000)).toMatchObject({
    ...{ text: 'deadline passed 2 s ago', left: 0, isOver: true },
  });
  expect(agoWords(AT, NOW - 3_000)).toBe('just now');
});

describe('a key', () => {
  const pressed = (key: string, more = {}) => ({
    ...{ key, ctrlKey: false, metaKey: false, altKey: false, repeat: false, isWriting: false },
    ...more,
  });

  it('of the list is its command; Enter and Escape are none', () => {
    for (const [key, { command }] of Object.entries(KEYS))
      expect(commandOf(pressed(key))).toBe(command);
    for (const key of ['Enter', 'Escape', ' ', 'A', 'toString'])
      expect(commandOf(pressed(key))).toBeUndefined();
  });

  it('after g leads to a view, and decides nothing', () => {
    for (const [key, { command }] of Object.entries(GO))
      expect(commandOf(pressed(key, { isGoing: true }))).toBe(command);
    expect(commandOf(pressed('d', { isGoing: true }))).toBeUndefined();
    expect(commandOf(pressed('a', { isGoing: true }))).toBe('all');
  });

  it('with Ctrl or Meta opens the commands, from a field as well', () => {
    expect(commandOf(pressed('k', { ctrlKey: true, isWriting: true }))).toBe('palette');
    expect(commandOf(pressed('k', { metaKey: true }))).toBe('palette');
    expect(commandOf(pressed('k', { metaKey: true, altKey: true }))).toBeUndefined();
  });

  it('of a command is found by any of its words', () => {
    const entries = Object.values(KEYS).map(({ command, text }) => ({ name: command, text }));
    expect(matching(entries, 'CALL next').map(({ name }) => name)).toEqual(['next']);
    expect(matching(entries, 'sel')[0]?.name).toBe('select');
    expect(matching(entries, '')).toHaveLength(entries.length);
    expect(matching(entries, 'nothing')).toEqual([]);
  });

  it.each(['ctrlKey', 'metaKey', 'altKey', 'isWriting', 'repeat'])(
    'with %s approves nothing',
    (flag) => {
      expect(commandOf(pressed('a', { [flag]: true }))).toBeUndefined();
    },
  );
});
