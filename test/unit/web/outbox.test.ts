/** Answers on their way: held, taken back, sent once, with the verdict of the first request that has one. */
import type { Problem, Verdict } from 'colloquy/browser';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  type Answer,
  HOLD_MS,
  Outbox,
  type OutgoingAnswer,
  URGENT_MS,
} from '../../../web/inbox/model/outbox.js';
import { promise } from '../../support/promise.js';

const NOW = Date.parse('2030-01-01T00:00:00.000Z');
const ACCEPTED: Verdict = { verdict: 'accepted', toolCallId: 'call_1', seq: 7 };
const AWAY: Problem = { status: 0, code: 'unreachable', detail: 'No answer' };

beforeEach(() => {
  vi.useFakeTimers({ now: NOW });
});
afterEach(() => {
  vi.useRealTimers();
});

function answer(ref: string, { leftMs = 3_600_000 } = {}): Answer {
  const deadline = new Date(NOW + leftMs).toISOString();
  const call = { ref, conversationId: 'c1', toolCallId: 'call_1', title: 'pay', deadline };
  return { ...call, resolution: { type: 'approve' } };
}

interface End {
  readonly promise: Promise<Verdict>;
  readonly resolve: (verdict: Verdict) => void;
  readonly reject: (error: Error) => void;
}

function anEnd(): End {
  let [resolve, reject]: [End['resolve'], End['reject']] = [() => undefined, () => undefined];
  const promise = new Promise<Verdict>((...both) => {
    [resolve, reject] = both;
  });
  return { promise, resolve, reject };
}

/** Requests are answered by the test, in the order of their sending. */
function anOutbox() {
  const sent: { answer: OutgoingAnswer; isLeaving: boolean; end: End }[] = [];
  const requests: number[] = [];
  let ids = 0;
  const outbox = new Outbox({
    send: async (given, isLeaving) => {
      const ends = given.map((answer) => {
        const end = anEnd();
        sent.push({ answer, isLeaving, end });
        return end.promise.then((verdict) => ({ verdict }));
      });
      requests.push(given.length);
      return await Promise.all(ends);
    },
    problemOf: () => AWAY,
    newId: () => `id-${++ids}`,
  });
  const states = () => outbox.getSnapshot().map(({ ref, state }) => `${ref} ${state}`);
  const hold = (...answers: readonly Answer[]) => outbox.hold(answers);
  const sendNow = (ref: string) => outbox.sendNow(new Set([ref]));
  const undo = (ref: string) => outbox.undo(outbox.of(ref)?.group ?? '');
  return { outbox, sent, states, requests, hold, sendNow, undo };
}

describe('an answer', () => {
  it('is held for five seconds, and sent then', async () => {
    const { outbox, sent, states, hold } = anOutbox();
    const changes = vi.fn();
    outbox.subscribe(changes);
    expect(hold(answer('a'))).toBe(1);
    vi.advanceTimersByTime(HOLD_MS - 1);
    expect([sent.length, states()]).toEqual([0, ['a held']]);
    vi.advanceTimersByTime(1);
    expect([sent.length, states()]).toEqual([1, ['a sending']]);
    sent[0]?.end.resolve(ACCEPTED);
    await vi.advanceTimersByTimeAsync(0);
    expect(outbox.of('a')).toMatchObject({ state: 'done', verdict: ACCEPTED, requestId: 'id-1' });
    expect(changes).toHaveBeenCalledTimes(3);
  });

  it('can be taken back while it is held, and not later', () => {
    const { sent, states, hold, sendNow, undo } = anOutbox();
    hold(answer('a'));
    expect(undo('a')).toBe(1);
    vi.advanceTimersByTime(HOLD_MS * 2);
    expect([sent.length, states()]).toEqual([0, []]);
    hold(answer('a'));
    sendNow('a');
    expect(undo('a')).toBe(0);
    expect([sent.length, states()]).toEqual([1, ['a sending']]);
  });

  it.each([
    { leftMs: URGENT_MS - 1, held: false },
    { leftMs: URGENT_MS, held: true },
    { leftMs: -5_000, held: false },
  ])('$leftMs ms before its deadline is held: $held', ({ leftMs, held }) => {
    const { sent, hold } = anOutbox();
    hold(answer('a', { leftMs }));
    expect(sent.length).toBe(held ? 0 : 1);
  });

  it('is the only one of its call that is under way', async () => {
    const { outbox, sent, states, hold, sendNow } = anOutbox();
    hold(answer('a'));
    expect(hold(answer('a'))).toBe(0);
    sendNow('a');
    expect(hold(answer('a'))).toBe(0);
    sendNow('a');
    expect([sent.length, states()]).toEqual([1, ['a sending']]);
    sent[0]?.end.resolve({ verdict: 'invalid', problems: [] });
    await vi.advanceTimersByTimeAsync(0);
    expect(hold(answer('a'))).toBe(1);
    expect(outbox.of('a')?.requestId).toBe('id-2');
  });

  it('without a verdict is sent again under its request id', promise('G375'), async () => {
    const { outbox, sent, hold, sendNow } = anOutbox();
    hold(answer('a'));
    sendNow('a');
    sent[0]?.end.reject(new Error('away'));
    await vi.advanceTimersByTimeAsync(0);
    expect(outbox.of('a')).toMatchObject({ state: 'failed', problem: AWAY });
    sendNow('a');
    sent[1]?.end.resolve(ACCEPTED);
    await vi.advanceTimersByTimeAsync(0);
    expect(outbox.of('a')).toMatchObject({ state: 'done', verdict: ACCEPTED });
    expect(sent.map(({ answer: { requestId } }) => requestId)).toEqual(['id-1', 'id-1']);
  });
});

describe('a page that is left', promise('G375'), () => {
  it('sends what is held, and repeats what has no verdict, under the same request ids', async () => {
    const { outbox, sent, states, hold, sendNow } = anOutbox();
    for (const ref of ['a', 'b', 'c']) hold(answer(ref));
    sendNow('a');
    sendNow('b');
    sent[0]?.end.resolve(ACCEPTED);
    await vi.advanceTimersByTimeAsync(0);
    outbox.leave();
    const requests = sent.map(({ answer: { requestId }, isLeaving }) =>
      `${requestId} ${isLeaving ? 'leaving' : ''}`.trim(),
    );
    expect(requests).toEqual(['id-1', 'id-2', 'id-2 leaving', 'id-3 leaving']);
    vi.advanceTimersByTime(HOLD_MS * 2);
    expect(sent).toHaveLength(4);
    // The failure of one request does not hide the verdict of the other.
    for (const { end } of sent.slice(2)) end.resolve(ACCEPTED);
    await vi.advanceTimersByTimeAsync(0);
    sent[1]?.end.reject(new Error('cut'));
    await vi.advanceTimersByTimeAsync(0);
    expect(states()).toEqual(['a done', 'b done', 'c done']);
  });
});

describe('a page that is hidden', promise('G375'), () => {
  it('sends what is held so that it outlives the page, and repeats nothing', async () => {
    const { outbox, sent, states, hold, sendNow } = anOutbox();
    hold(answer('a'));
    hold(answer('b'), answer('c'));
    sendNow('a');
    outbox.hide();
    expect(sent.map(({ answer: { ref }, isLeaving }) => [ref, isLeaving])).toEqual([
      ['a', false],
      ['b', true],
      ['c', true],
    ]);
    vi.advanceTimersByTime(HOLD_MS * 2);
    outbox.hide();
    expect([sent.length, states()]).toEqual([3, ['a sending', 'b sending', 'c sending']]);
  });
});

describe('answers of one decision', () => {
  it(
    'are held together, taken back together, and sent 100 at a time',
    promise('G377'),
    async () => {
      const { outbox, sent, states, requests, hold, undo } = anOutbox();
      const many = Array.from({ length: 250 }, (_, index) => answer(`r${index}`));
      expect(hold(...many)).toBe(250);
      expect(undo('r7')).toBe(250);
      expect(states()).toEqual([]);
      hold(...many);
      vi.advanceTimersByTime(HOLD_MS);
      expect(requests).toEqual([100, 100, 50]);
      expect(new Set(sent.map(({ answer: { requestId } }) => requestId)).size).toBe(250);
      for (const { end } of sent) end.resolve(ACCEPTED);
      await vi.advanceTimersByTimeAsync(0);
      expect(outbox.getSnapshot().every(({ state }) => state === 'done')).toBe(true);
    },
  );

  it('leave out calls that are busy, and send urgent ones at once', promise('G377'), () => {
    const { states, hold } = anOutbox();
    hold(answer('a'));
    expect(hold(answer('a'), answer('b'), answer('c', { leftMs: 1 }))).toBe(2);
    expect(states()).toEqual(['a held', 'b held', 'c sending']);
  });

  it('are one by one when a single one of them has to be sent', () => {
    const { outbox, states, hold, sendNow, undo } = anOutbox();
    hold(answer('a'), answer('b'));
    sendNow('b');
    expect(states()).toEqual(['a held', 'b sending']);
    expect(undo('b')).toBe(1);
    expect(states()).toEqual(['b sending']);
    expect(outbox.isAtRisk).toBe(true);
  });
});

it.each([
  { reason: 'x'.repeat(1_000), bytes: 1_000 },
  { reason: 'あ'.repeat(150), bytes: 450 },
])(
  'more than a browser sends for a page that is gone is at risk: $bytes bytes for each',
  ({ reason }) => {
    const { outbox, sent, hold } = anOutbox();
    const many = Array.from({ length: 150 }, (_, index) => ({
      ...answer(`r${index}`),
      resolution: { type: 'deny', reason } as const,
    }));
    hold(...many.slice(0, 5));
    expect(outbox.isAtRisk).toBe(false);
    hold(...many);
    expect(outbox.isAtRisk).toBe(true);
    outbox.leave();
    expect(new Set(sent.map(({ isLeaving }) => isLeaving))).toEqual(new Set([false]));
  },
);

it('finished answers can be dismissed, and the oldest go by themselves', async () => {
  const { outbox, sent, states, hold } = anOutbox();
  const many = Array.from({ length: 1_010 }, (_, index) => answer(`r${index}`));
  for (const one of many) hold(one);
  const [first] = outbox.getSnapshot();
  outbox.dismiss(first?.group ?? '');
  expect(states()).toHaveLength(1_010);
  outbox.sendNow(new Set(many.map(({ ref }) => ref)));
  for (const { end } of sent) end.resolve(ACCEPTED);
  await vi.advanceTimersByTimeAsync(0);
  expect(states()).toHaveLength(1_000);
  outbox.dismiss(outbox.getSnapshot()[0]?.group ?? '');
  expect(states()).toHaveLength(999);
});
