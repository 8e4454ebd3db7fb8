import { describe, expect, it } from 'vitest';
import { applyAll } from '../../../../src/core/apply/apply.js';
import { toCarryOver } from '../../../../src/core/context/carry-over.js';
import { snapshotOf } from '../../../../src/core/view/snapshot.js';
import { restoreState } from '../../../../src/projection/reading/reopening.js';
import type { CanonicalEvent } from '../../../../src/protocol/log/events.js';
import type { CarriedState } from '../../../../src/protocol/workflow/messaging.js';
import { promise } from '../../../support/promise.js';
import {
  answers,
  asks,
  closes,
  KEY,
  outline,
  stamped,
  started,
  turn,
} from '../../../support/samples/log-events.js';
import { aReader } from '../setup.js';

/** Three whole turns and the beginning of a fourth. */
const ALL = stamped([started(), ...turn('t1'), ...turn('t2'), ...turn('t3'), ...asks('t4')]);
const STORED = 8;

function stateAfter(events: readonly CanonicalEvent[]) {
  const state = applyAll(events);
  if (state === undefined) throw new TypeError('no state');
  return state;
}

/** The start state of a run behind these events; the last `unconfirmed` of them may be missing in the store. */
function carriedBehind(events: readonly CanonicalEvent[], unconfirmed = 0): CarriedState {
  const memory = toCarryOver(stateAfter(events));
  return { ...memory, events: events.slice(events.length - unconfirmed) };
}

/** The store has the first events, of run-a; run-c is current, and has only the events behind `ALL`. */
async function aGap(options: { readonly unconfirmed?: number } = {}) {
  const { unconfirmed = 0 } = options;
  const reader = await aReader({ withSource: true });
  await reader.store(ALL.slice(0, STORED));
  const behind = stamped(answers('t4'), { from: ALL.length + 1 });
  const carried = carriedBehind(ALL, unconfirmed);
  reader.source.set({
    runId: 'run-c',
    events: [...carried.events, ...behind],
    carriedSeq: ALL.length,
    carried,
    previous: 'run-b',
  });
  const lost = ALL.slice(STORED, ALL.length - unconfirmed).map(({ seq }) => `${seq}:events_lost`);
  return { ...reader, behind, lost };
}

/** The store is empty, and so many events are in no run any more. */
async function aLongGap(lost: number) {
  const reader = await aReader({ withSource: true });
  const before = stamped([started(), ...turn('t1')], { from: lost - 5 });
  const behind = stamped(turn('t2'), { from: lost + 1 });
  const run = { runId: 'run-c', carriedSeq: lost, carried: carriedBehind(before) };
  reader.source.set({ ...run, events: behind });
  return { ...reader, last: lost + behind.length };
}

describe('events that neither the store nor a run has any more', () => {
  it('are marked one by one, and the log continues behind them as if nothing were missing', {
    ...promise('G229'),
  }, async () => {
    const { projector, rows, log, lost, behind, said } = await aGap();
    const last = ALL.length + behind.length;
    expect(await projector.flush(KEY, last)).toMatchObject({ storedSeq: last });
    expect(await rows()).toEqual([...outline(ALL.slice(0, STORED)), ...lost, ...outline(behind)]);
    const head = await log.head(KEY);
    expect(head).toMatchObject({ generation: 1, lastSeq: last, runId: 'run-c' });
    // Readers see the state of the conversation: usage of the lost turns, and no earlier turn.
    const whole = snapshotOf(stateAfter([...ALL, ...behind]));
    expect(head?.snapshot).toEqual({ ...whole, title: 'hello', generation: 1 });
    expect(said.filter((line) => line.includes('lost'))).toHaveLength(1);
  });

  it('are only those that the current run did not carry over as unconfirmed', async () => {
    const { projector, rows, log, lost, behind } = await aGap({ unconfirmed: 3 });
    await projector.flush(KEY, ALL.length + behind.length);
    expect(await rows()).toEqual([
      ...outline(ALL.slice(0, STORED)),
      ...lost,
      ...outline(ALL.slice(-3)),
      ...outline(behind),
    ]);
    const whole = snapshotOf(stateAfter([...ALL, ...behind]));
    expect((await log.head(KEY))?.snapshot).toEqual({ ...whole, title: 'hello', generation: 1 });
  });

  it('are only those before a run that still answers', async () => {
    const { projector, source, rows, behind } = await aGap();
    const current = source.current();
    const ofB = ALL.slice(11);
    source.set({
      runId: 'run-b',
      events: ofB,
      status: 'closed',
      carried: carriedBehind(ALL.slice(0, 11)),
      previous: 'run-a',
    });
    if (current !== undefined) source.addRun(current);
    await projector.flush(KEY, ALL.length + behind.length);
    expect(await rows()).toEqual([
      ...outline(ALL.slice(0, STORED)),
      ...['9:events_lost', '10:events_lost', '11:events_lost'],
      ...outline(ofB),
      ...outline(behind),
    ]);
  });

  it('are marked behind the beginning of the copy that a fork has in a restored store', {
    ...promise('G229'),
  }, async () => {
    const { projector, source, rows, log } = await aReader({ withSource: true });
    await log.append({ ...KEY, runId: 'run-c', events: ALL.slice(0, STORED), copied: true });
    const behind = stamped(answers('t4'), { from: ALL.length + 1 });
    const run = { runId: 'run-c', carriedSeq: ALL.length, carried: carriedBehind(ALL) };
    source.set({ ...run, events: behind });
    const last = ALL.length + behind.length;
    expect(await projector.flush(KEY, last)).toMatchObject({ storedSeq: last });
    const lost = ALL.slice(STORED).map(({ seq }) => `${seq}:events_lost`);
    expect(await rows()).toEqual([...outline(ALL.slice(0, STORED)), ...lost, ...outline(behind)]);
  });

  it('are marked from the first on where the store has no event of the conversation', async () => {
    const { projector, source, rows, log } = await aReader({ withSource: true });
    source.set({ runId: 'run-c', events: [], carriedSeq: ALL.length, carried: carriedBehind(ALL) });
    expect(await projector.flush(KEY, ALL.length)).toMatchObject({ storedSeq: ALL.length });
    expect(await rows()).toEqual(ALL.map(({ seq }) => `${seq}:events_lost`));
    expect((await log.head(KEY))?.snapshot).toMatchObject({ seq: ALL.length, status: 'streaming' });
  });

  it('are marked up to 50,000 at one place, in one batch', async () => {
    const { projector, log, last } = await aLongGap(50_000);
    await projector.catchUp(KEY, { runId: 'run-c' });
    expect(await log.head(KEY)).toMatchObject({ generation: 1, lastSeq: last, runId: 'run-c' });
  });

  it('are not marked where they are more than that: the log ends at the gap, and workers log so once', {
    ...promise('G229'),
  }, async () => {
    const { projector, log, said } = await aLongGap(50_001);
    for (let nth = 0; nth < 2; nth += 1)
      expect(await projector.catchUp(KEY, { runId: 'run-c' })).toMatchObject({ outcome: 'gap' });
    expect(await log.head(KEY)).toBeUndefined();
    expect(said).toEqual([expect.stringContaining('ends at seq 0, its run begins at 50002: ')]);
  });

  it('are not marked while a run that may have them does not answer', {
    ...promise('G229'),
  }, async () => {
    const { source, rows, projector, behind } = await aGap();
    const current = source.current();
    source.set({ runId: 'run-b', events: ALL.slice(5), status: 'closed', previous: 'run-a' });
    if (current !== undefined) source.addRun(current);
    const events = source.events.bind(source);
    source.events = async (key, query) => {
      if (query.runId === 'run-b') throw new Error('no worker answers');
      return await events(key, query);
    };
    const last = ALL.length + behind.length;
    await projector.flush(KEY, last).catch(() => undefined);
    expect(await rows()).toEqual(outline(ALL.slice(0, STORED)));
    // Once the run answers, no event is lost.
    source.events = events;
    await projector.flush(KEY, last);
    expect(await rows()).toEqual([...outline(ALL), ...outline(behind)]);
  });

  it('are marked once, by any number of processes and reads of the log', async () => {
    const { projector, rows, log, lost, behind, source, live } = await aGap();
    const { Projector } = await import('../../../../src/projection/projector/projector.js');
    const other = new Projector({ log, live, source });
    const last = ALL.length + behind.length;
    await Promise.all([projector.flush(KEY, last), other.flush(KEY, last)]);
    await other.flush(KEY, last);
    expect(await rows()).toEqual([...outline(ALL.slice(0, STORED)), ...lost, ...outline(behind)]);
    expect((await log.head(KEY))?.generation).toBe(1);
  });

  it('are marked before the end of a run that was ended from outside', async () => {
    const { projector, source, rows, lost } = await aGap();
    const run = source.current();
    if (run !== undefined) source.set({ ...run, endedBy: 'terminated' });
    await projector.catchUp(KEY, { runId: 'run-c', endedBy: 'terminated' });
    await projector.catchUp(KEY, { runId: 'run-c', endedBy: 'terminated' });
    expect(await rows()).toEqual([
      ...outline(ALL.slice(0, STORED)),
      ...lost,
      `${ALL.length + 1}:run_ended`,
    ]);
  });

  it('stop no reader: pages and streams are dense and continue from any seq, and hide the engine’s memory', {
    ...promise('G229'),
  }, async () => {
    const { projector, reader, behind } = await aGap();
    const last = ALL.length + behind.length;
    await projector.flush(KEY, last);
    const after = { generation: 1, seq: STORED + 2 };
    const page = await reader.events(KEY, { after });
    expect(page?.events.map(({ seq }) => seq)).toEqual(
      Array.from({ length: last - after.seq }, (_, nth) => after.seq + 1 + nth),
    );
    const whole = await reader.events(KEY);
    const first = whole?.events.find(({ type }) => type === 'events_lost');
    expect(first).toMatchObject({
      seq: STORED + 1,
      from: STORED + 1,
      through: ALL.length,
      snapshot: { seq: ALL.length, turn: { turnId: 't4' } },
    });
    expect(JSON.stringify([whole, await reader.events(KEY, { before: 'end' })])).not.toContain(
      'carried',
    );
    const stop = new AbortController();
    const seqs: number[] = [];
    for await (const frame of reader.watch(KEY, { after, signal: stop.signal })) {
      if (frame.type !== 'event') continue;
      expect(frame.event).not.toHaveProperty('carried');
      if (seqs.push(frame.event.seq) === last - after.seq) stop.abort();
    }
    expect(seqs).toEqual(page?.events.map(({ seq }) => seq));
  });

  it('leave a turn whose end was among them failed, and a running one running', {
    ...promise('G229'),
  }, async () => {
    const { projector, reader, behind } = await aGap();
    await projector.flush(KEY, ALL.length + behind.length);
    const options = { timeoutMs: 100 };
    expect(await reader.turnResult(KEY, 't1', options)).toMatchObject({ status: 'completed' });
    expect(await reader.turnResult(KEY, 't2', options)).toMatchObject({
      status: 'failed',
      error: {
        code: 'internal',
        message: 'The outcome of the turn is lost: the event log has a gap',
      },
    });
    expect(await reader.turnResult(KEY, 't4', options)).toMatchObject({ status: 'completed' });
  });

  it('do not keep a closed conversation from being opened again, with its whole memory', async () => {
    const { projector, source, log, behind } = await aGap({ unconfirmed: 2 });
    const end = stamped([closes()], { from: ALL.length + behind.length + 1 });
    const run = source.current();
    if (run !== undefined)
      source.set({ ...run, events: [...run.events, ...end], status: 'closed' });
    await projector.flush(KEY, end[0]?.seq ?? 0);
    const closedRunId = run?.runId ?? '';
    const wanted = { ...KEY, chain: 'chain-of-the-new-run', closedRunId };
    expect(await restoreState({ log, source }, wanted)).toEqual({
      ...toCarryOver(stateAfter([...ALL, ...behind, ...end])),
      events: [],
    });
  });
});
