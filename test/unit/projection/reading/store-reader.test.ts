import { describe, expect, it, vi } from 'vitest';
import type { CanonicalEvent } from '../../../../src/protocol/log/events.js';
import type { LogCursor } from '../../../../src/protocol/values/cursor.js';
import { formatCursor, parseCursor } from '../../../../src/protocol/values/cursor.js';
import { promise } from '../../../support/promise.js';
import {
  answers,
  asks,
  closes,
  KEY,
  outline,
  stamped,
  started,
  suspends,
  turn,
} from '../../../support/samples/log-events.js';
import { aReader } from '../setup.js';

const LOG = stamped([started(), ...turn('t1'), ...turn('t2')]);
const OTHER = stamped([...turn('t2', 'another'), ...turn('t3')], { from: 7, clock: 9 });
const WAITING = stamped([started(), ...asks('t1'), suspends('t1', 'call-1')]);

describe('cursors', () => {
  it('read back what they write, and nothing else', () => {
    expect(parseCursor(formatCursor({ generation: 3, seq: 0 }))).toEqual({ generation: 3, seq: 0 });
    for (const text of [
      '',
      '1',
      '0-1',
      '1-',
      '-1',
      '1-2-3',
      '1-x',
      '1e3-2',
      ' 1-2',
      `1-${'9'.repeat(20)}`,
    ])
      expect(parseCursor(text)).toBeUndefined();
  });
});

describe('reading a log', () => {
  it('resumes at every cursor without gap or repeat, page by page', promise('2.A.2'), async () => {
    const { reader, store } = await aReader();
    await store(LOG);
    await store(OTHER, 'run-b');
    const all = await reader.events(KEY);
    const whole = all?.events ?? [];
    expect(outline(whole)[0]).toBe('0:log_rewritten');
    for (let start = 0; start < whole.length; start += 1) {
      const seen: CanonicalEvent[] = [];
      let after: LogCursor = { generation: 2, seq: whole[start]?.seq ?? 0 };
      for (let more = true; more; ) {
        const page = await reader.events(KEY, { after, limit: 3 });
        seen.push(...(page?.events ?? []));
        after = page?.cursor ?? after;
        more = page?.more ?? false;
      }
      expect(seen).toEqual(whole.slice(start + 1));
    }
  });

  it('begins again at the marker for a cursor of an older generation', async () => {
    const { reader, store } = await aReader();
    await store(LOG);
    await store(OTHER, 'run-b');
    const page = await reader.events(KEY, { after: { generation: 1, seq: 9 } });
    expect(page?.events[0]?.type).toBe('log_rewritten');
    expect(page).toMatchObject({ generation: 2, cursor: { generation: 2, seq: 16 }, more: false });
  });

  it('does not know a conversation that was never started', async () => {
    const { reader } = await aReader({ withSource: true });
    expect(await reader.events(KEY)).toBeUndefined();
    expect(await reader.snapshot(KEY)).toBeUndefined();
    expect(await reader.findTurn('t1')).toBeUndefined();
  });

  it('waits for a conversation that was started a moment ago', async () => {
    const { reader, source, projector } = await aReader({ withSource: true });
    source.set({ runId: 'run-a', events: LOG });
    projector.hint(source.hint());
    const [page, snapshot] = await Promise.all([reader.events(KEY), reader.snapshot(KEY)]);
    expect(page?.events).toEqual(LOG);
    expect(snapshot?.seq).toBe(LOG.length);
    expect(source.queries).toHaveLength(1);
  });
});

describe('reading a snapshot', () => {
  it('queries no workflow when the store has every seq that the caller knows', async () => {
    const { reader, source, store } = await aReader({ withSource: true });
    source.set({ runId: 'run-a', events: LOG });
    await store(LOG.slice(0, 6));
    expect((await reader.snapshot(KEY, { atLeastSeq: 6 }))?.seq).toBe(6);
    expect((await reader.snapshot(KEY))?.seq).toBe(6);
    expect([source.queries.length, source.describes]).toEqual([0, 0]);
  });

  it('waits for the projector when the caller knows a later seq', async () => {
    const { reader, source, store } = await aReader({ withSource: true });
    await store(LOG.slice(0, 6));
    const reading = reader.snapshot(KEY, { atLeastSeq: 8 });
    await store(LOG.slice(0, 8));
    expect((await reading)?.seq).toBe(8);
    expect(source.queries).toHaveLength(0);
  });

  it('queries the workflow for the tail when the store stays behind', async () => {
    const { reader, source, store } = await aReader({ withSource: true });
    await store(LOG.slice(0, 6));
    source.pageSize = 2;
    source.set({ runId: 'run-a', events: LOG });
    const snapshot = await reader.snapshot(KEY, { atLeastSeq: 9 });
    expect(snapshot).toMatchObject({ seq: LOG.length, generation: 1, usage: { inputTokens: 20 } });
  });

  it('hides events that a run which was ended from outside may never have committed', async () => {
    const { reader, source, store } = await aReader({ withSource: true });
    await store(LOG.slice(0, 6));
    source.set({ runId: 'run-a', events: LOG, endedBy: 'terminated' });
    expect((await reader.snapshot(KEY, { atLeastSeq: 9 }))?.seq).toBe(6);
  });

  it('reports how far the workflow is once it has answered, and nothing where it has not', async () => {
    const { reader, source, store } = await aReader({ withSource: true });
    await store(LOG.slice(0, 6));
    const seqs: number[] = [];
    const options = { atLeastSeq: 99, answered: (seq: number) => seqs.push(seq) };
    source.failing = true;
    await reader.snapshot(KEY, options);
    expect(seqs).toEqual([]);
    source.failing = false;
    source.set({ runId: 'run-a', events: LOG.slice(0, 6) });
    await reader.snapshot(KEY, options);
    source.set({ runId: 'run-a', events: LOG });
    await reader.snapshot(KEY, options);
    source.set({ runId: 'run-b', events: [] });
    await reader.snapshot(KEY, options);
    expect(seqs).toEqual([6, LOG.length]);
  });

  it('returns the stored state when no workflow answers', async () => {
    const { reader, source, store } = await aReader({ withSource: true });
    await store(LOG.slice(0, 6));
    source.failing = true;
    expect((await reader.snapshot(KEY, { atLeastSeq: 9 }))?.seq).toBe(6);
  });
});

describe.each([
  ['with a live channel', true],
  ['without a live channel', false],
])('waiting for a turn %s', (_name, withLive) => {
  it('gives the result of a turn that has ended, any number of times', async () => {
    const { reader, store } = await aReader({ withLive });
    await store(LOG);
    const results = await Promise.all(
      [1, 2, 3].map(() => reader.turnResult(KEY, 't2', { timeoutMs: 0 })),
    );
    const usage = { inputTokens: 10, outputTokens: 5 };
    for (const result of results)
      expect(result).toEqual({ status: 'completed', turnId: 't2', text: 'hi', usage, seq: 11 });
  });

  it('waits until the turn ends', async () => {
    const { reader, store } = await aReader({ withLive });
    await store(LOG.slice(0, 3));
    const waiting = reader.turnResult(KEY, 't1', { timeoutMs: 3_000 });
    await store(LOG.slice(0, 6));
    expect(await waiting).toMatchObject({ status: 'completed', turnId: 't1', seq: 6 });
  });

  it('reads the events of the turn when it has ended, and not before', async () => {
    const { reader, store, log } = await aReader({ withLive });
    const reads = vi.spyOn(log, 'readTurn');
    await store(LOG.slice(0, 3));
    const waiting = reader.turnResult(KEY, 't1', { timeoutMs: 3_000 });
    await store(LOG.slice(0, 5));
    expect(await reader.turnResult(KEY, 't1', { timeoutMs: 1 })).toMatchObject({
      status: 'timeout',
    });
    expect(reads).not.toHaveBeenCalled();
    await store(LOG.slice(0, 6));
    expect(await waiting).toMatchObject({ status: 'completed' });
    expect(reads).toHaveBeenCalledOnce();
  });

  it('has the end of a turn whose run was over, without a wait, also while the log grows', async () => {
    const { reader, store, log } = await aReader();
    const begun = [started(), ...asks('t1'), closes()];
    await store(stamped(begun));
    const readTurn = log.readTurn.bind(log);
    const read = vi.spyOn(log, 'readTurn');
    read.mockImplementationOnce(async (key, turnId) => {
      await store(stamped([...begun, started()]));
      return await readTurn(key, turnId);
    });
    expect(await reader.turnResult(KEY, 't1', { timeoutMs: 0 })).toMatchObject({
      ...{ status: 'failed', seq: 4 },
    });
    expect(read).toHaveBeenCalledTimes(2);
  });

  it('waits for a turn that is not stored yet', async () => {
    const { reader, store } = await aReader({ withLive });
    const waiting = reader.turnResult(KEY, 't1', { timeoutMs: 3_000 });
    await store(LOG);
    expect(await waiting).toMatchObject({ status: 'completed' });
  });

  it('returns the pending calls when only people can continue the turn', async () => {
    const { reader, store } = await aReader({ withLive });
    await store(WAITING);
    const result = await reader.turnResult(KEY, 't1', { timeoutMs: 3_000 });
    expect(result).toMatchObject({
      status: 'waiting',
      turnId: 't1',
      pending: [{ toolCallId: 'call-1', ref: 'default~c1~call-1' }],
    });
  });

  it('keeps waiting for people on request', async () => {
    const { reader, store } = await aReader({ withLive });
    await store(WAITING);
    const options = { timeoutMs: 3_000, returnWhenWaiting: false };
    const waiting = reader.turnResult(KEY, 't1', options);
    await store([...WAITING, ...stamped(answers('t1'), { from: 5 })]);
    expect(await waiting).toMatchObject({ status: 'completed', seq: 7 });
  });

  it('ends at the time limit, without a result for an unknown turn', async () => {
    const { reader, store } = await aReader({ withLive });
    await store(LOG.slice(0, 3));
    expect(await reader.turnResult(KEY, 't1', { timeoutMs: 20 })).toEqual({
      status: 'timeout',
      turnId: 't1',
    });
    expect(await reader.turnResult(KEY, 't7', { timeoutMs: 20 })).toBeUndefined();
  });

  it('ends at once when the caller goes away', async () => {
    const { reader, store, live } = await aReader({ withLive });
    await store(LOG.slice(0, 3));
    const controller = new AbortController();
    const waiting = reader.turnResult(KEY, 't1', { timeoutMs: 60_000, signal: controller.signal });
    controller.abort();
    expect(await waiting).toEqual({ status: 'timeout', turnId: 't1' });
    expect(live.watched(KEY)).toBeUndefined();
  });
});

describe('waiting for a turn', () => {
  it('gives failed and cancelled turns as results', async () => {
    const { reader, store } = await aReader();
    const usage = { inputTokens: 0, outputTokens: 0 };
    const end = { type: 'turn_ended', text: '', steps: 1, usage } as const;
    const error = { code: 'model_unavailable', message: 'no model' };
    await store(
      stamped([
        started(),
        ...asks('t1'),
        { ...end, turnId: 't1', status: 'failed', reason: 'model_failed', error },
        ...asks('t2'),
        { ...end, turnId: 't2', status: 'cancelled', reason: 'cancelled' },
      ]),
    );
    const result = async (turnId: string) => await reader.turnResult(KEY, turnId, { timeoutMs: 0 });
    expect(await result('t1')).toEqual({
      status: 'failed',
      turnId: 't1',
      error,
      text: '',
      usage,
      seq: 4,
    });
    expect(await result('t2')).toEqual({
      status: 'cancelled',
      turnId: 't2',
      text: '',
      usage,
      seq: 7,
    });
  });

  it('goes on behind a gap in which the turn did not end, up to the end of its run', async () => {
    const { reader, store, log } = await aReader();
    await store([...LOG, ...stamped(asks('t3'), { from: 12 })]);
    const { snapshot } = (await log.head(KEY))!;
    const gap = { type: 'events_lost', from: 14, through: 15 } as const;
    await store(stamped([{ ...gap, snapshot: { ...snapshot, seq: 15 } }, gap], { from: 14 }));
    const timeout = { status: 'timeout', turnId: 't3' };
    expect(await reader.turnResult(KEY, 't3', { timeoutMs: 0 })).toEqual(timeout);
    await store(
      stamped([{ type: 'run_ended', runId: 'run-a', status: 'terminated' }], { from: 16 }),
    );
    expect(await reader.turnResult(KEY, 't3', { timeoutMs: 0 })).toMatchObject({
      ...{ status: 'failed', seq: 16 },
      error: { message: expect.stringContaining('was terminated') as string },
    });
  });

  it('gives up a turn that has just begun, within its time, while the log grows without end', async () => {
    const { reader, store, log } = await aReader();
    await store([...LOG, ...stamped(asks('t3'), { from: 12 })]);
    const head = log.head.bind(log);
    // Each read has a head of before the turn, and the next one has moved.
    let reads = 0;
    vi.spyOn(log, 'head').mockImplementation(async (key) => {
      const now = await head(key);
      reads += 1;
      if (now === undefined) return undefined;
      const { turn: _, ...snapshot } = now.snapshot;
      return { ...now, lastSeq: reads, snapshot };
    });
    const result = await reader.turnResult(KEY, 't3', { timeoutMs: 0 });
    expect(result).toEqual({ status: 'timeout', turnId: 't3' });
  });

  it('reports pending calls only as of a seq that the caller knows', async () => {
    const { reader, store } = await aReader();
    await store(WAITING);
    const options = { timeoutMs: 20, atLeastSeq: 5 };
    expect(await reader.turnResult(KEY, 't1', options)).toMatchObject({ status: 'timeout' });
    expect(await reader.turnResult(KEY, 't1', { ...options, atLeastSeq: 4 })).toMatchObject({
      status: 'waiting',
      seq: 4,
    });
    const waiting = reader.turnResult(KEY, 't1', { timeoutMs: 3_000, atLeastSeq: 5 });
    await store(stamped([suspends('t1', 'call-2')], { from: 5 }));
    expect(await waiting).toMatchObject({ status: 'waiting', seq: 5 });
  });

  it.each([
    ['terminated', 'was terminated'],
    ['failed', 'failed'],
    ['timed_out', 'timed out'],
  ] as const)('fails when the run of the conversation has ended: %s', async (status, text) => {
    const { reader, store } = await aReader();
    await store([...LOG, ...stamped(asks('t3'), { from: 12 })]);
    const waiting = reader.turnResult(KEY, 't3', { timeoutMs: 3_000 });
    const [said] = stamped(answers('t3'), { from: 14 });
    const end = stamped([{ type: 'run_ended', runId: 'run-a', status }], { from: 15 });
    await store([...(said === undefined ? [] : [said]), ...end]);
    const failed = {
      status: 'failed',
      turnId: 't3',
      error: {
        code: 'conversation_closed',
        message: `The workflow run of the conversation ${text} before the turn ended`,
      },
      text: '',
      usage: { inputTokens: 10, outputTokens: 5 },
      seq: 15,
    };
    expect(await waiting).toEqual(failed);
    // The turns before it ended well, and opening the conversation again does not restore this one.
    expect(await reader.turnResult(KEY, 't2', { timeoutMs: 0 })).toMatchObject({
      status: 'completed',
    });
    await store(stamped([started(KEY, 'chain1'), ...asks('t4')], { from: 16 }), 'run-b');
    expect(await reader.turnResult(KEY, 't3', { timeoutMs: 0 })).toEqual(failed);
    expect(await reader.turnResult(KEY, 't4', { timeoutMs: 0 })).toMatchObject({
      status: 'timeout',
    });
  });

  it('makes the projector hurry while it waits', async () => {
    const { reader, store, live } = await aReader();
    await store(LOG.slice(0, 3));
    const waiting = reader.turnResult(KEY, 't1', { timeoutMs: 3_000 });
    expect(live.watched(KEY)).toEqual({ live: false });
    await store(LOG);
    await waiting;
    expect(live.watched(KEY)).toBeUndefined();
  });
});
