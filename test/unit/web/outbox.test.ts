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
  let ids = 0;
  const outbox = new Outbox({
    send: (answer, isLeaving) => {
      const end = anEnd();
      sent.push({ answer, isLeaving, end });
      return end.promise;
    },
    problemOf: () => AWAY,
    newId: () => `id-${++ids}`,
  });
  const states = () => outbox.getSnapshot().map(({ ref, state }) => `${ref} ${state}`);
  return { outbox, sent, states };
}

describe('an answer', () => {
  it('is held for five seconds, and sent then', async () => {
    const { outbox, sent, states } = anOutbox();
    const changes = vi.fn();
    outbox.subscribe(changes);
    expect(outbox.hold(answer('a'))).toBe(true);
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
    const { outbox, sent, states } = anOutbox();
    outbox.hold(answer('a'));
    expect(outbox.undo('a')).toBe(true);
    vi.advanceTimersByTime(HOLD_MS * 2);
    expect([sent.length, states()]).toEqual([0, []]);
    outbox.hold(answer('a'));
    outbox.sendNow('a');
    expect(outbox.undo('a')).toBe(false);
    expect([sent.length, states()]).toEqual([1, ['a sending']]);
  });

  it.each([
    { leftMs: URGENT_MS - 1, held: false },
    { leftMs: URGENT_MS, held: true },
    { leftMs: -5_000, held: false },
  ])('$leftMs ms before its deadline is held: $held', ({ leftMs, held }) => {
    const { outbox, sent } = anOutbox();
    outbox.hold(answer('a', { leftMs }));
    expect(sent.length).toBe(held ? 0 : 1);
  });

  it('is the only one of its call that is under way', async () => {
    const { outbox, sent, states } = anOutbox();
    outbox.hold(answer('a'));
    expect(outbox.hold(answer('a'))).toBe(false);
    outbox.sendNow('a');
    expect(outbox.hold(answer('a'))).toBe(false);
    outbox.sendNow('a');
    expect([sent.length, states()]).toEqual([1, ['a sending']]);
    sent[0]?.end.resolve({ verdict: 'invalid', problems: [] });
    await vi.advanceTimersByTimeAsync(0);
    expect(outbox.hold(answer('a'))).toBe(true);
    expect(outbox.of('a')?.requestId).toBe('id-2');
  });

  it('without a verdict is sent again under its request id', promise('G375'), async () => {
    const { outbox, sent } = anOutbox();
    outbox.hold(answer('a'));
    outbox.sendNow('a');
    sent[0]?.end.reject(new Error('away'));
    await vi.advanceTimersByTimeAsync(0);
    expect(outbox.of('a')).toMatchObject({ state: 'failed', problem: AWAY });
    outbox.sendNow('a');
    sent[1]?.end.resolve(ACCEPTED);
    await vi.advanceTimersByTimeAsync(0);
    expect(outbox.of('a')).toMatchObject({ state: 'done', verdict: ACCEPTED });
    expect(sent.map(({ answer: { requestId } }) => requestId)).toEqual(['id-1', 'id-1']);
  });
});

describe('a page that is left', promise('G375'), () => {
  it('sends what is held, and repeats what has no verdict, under the same request ids', async () => {
    const { outbox, sent, states } = anOutbox();
    for (const ref of ['a', 'b', 'c']) outbox.hold(answer(ref));
    outbox.sendNow('a');
    outbox.sendNow('b');
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
    sent[2]?.end.resolve(ACCEPTED);
    await vi.advanceTimersByTimeAsync(0);
    sent[1]?.end.reject(new Error('cut'));
    await vi.advanceTimersByTimeAsync(0);
    expect(states()).toEqual(['a done', 'b done', 'c sending']);
  });
});

it('finished answers can be dismissed, and the oldest go by themselves', async () => {
  const { outbox, sent, states } = anOutbox();
  for (let index = 0; index < 60; index += 1) {
    outbox.hold(answer(`r${index}`));
    outbox.dismiss(`r${index}`);
    outbox.sendNow(`r${index}`);
    sent[index]?.end.resolve(ACCEPTED);
    await vi.advanceTimersByTimeAsync(0);
  }
  expect(states()).toHaveLength(50);
  expect(states()[0]).toBe('r10 done');
  outbox.dismiss('r10');
  expect(states()[0]).toBe('r11 done');
});
