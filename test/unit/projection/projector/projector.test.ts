import { setImmediate as nextTurnOfLoop } from 'node:timers/promises';
import { describe, expect, it, onTestFinished, vi } from 'vitest';

import { type LiveMessage, tenantKey } from '../../../../src/store/ports/live.js';
import { StoreUnavailable } from '../../../../src/store/ports/log.js';
import { answers, asks, KEY, stamped, started, turn } from '../../../support/samples/log-events.js';
import { until } from '../../../support/until.js';
import { aProjection } from '../setup.js';

const LOG = stamped([started(), ...turn('t1'), ...turn('t2'), ...turn('t3')]);

describe('projecting hints', () => {
  it("stores the workflow's events and notifies watchers", async () => {
    const { source, projector, stored, listen } = await aProjection();
    const heard = listen();
    source.set({ runId: 'run-a', events: LOG });
    projector.hint(source.hint());
    await until('all is stored', async () => (await stored()) === LOG.length);
    expect(heard).toEqual([{ type: 'appended', ...KEY, generation: 1, lastSeq: LOG.length }]);
  });

  it('notifies those who watch all conversations of the tenant, and of which one', async () => {
    const { source, projector, stored, live } = await aProjection();
    const heard: LiveMessage[] = [];
    live.subscribe(tenantKey(KEY.tenant), { live: false }, (message) => heard.push(message));
    live.subscribe(tenantKey('other'), { live: false }, (message) => heard.push(message));
    source.set({ runId: 'run-a', events: LOG });
    projector.hint(source.hint());
    await until('all is stored', async () => (await stored()) === LOG.length);
    const position = { generation: 1, lastSeq: LOG.length };
    const moved = { ...tenantKey(KEY.tenant), moved: KEY.conversationId };
    expect(heard).toEqual([{ type: 'appended', ...moved, ...position }]);
  });

  it('queries once for many hints that come close together', async () => {
    const { source, projector, stored } = await aProjection();
    const run = { runId: 'run-a', events: LOG.slice(0, 0) };
    source.set(run);
    for (const event of LOG) {
      run.events = LOG.slice(0, event.seq);
      projector.hint(source.hint());
    }
    await until('all is stored', async () => (await stored()) === LOG.length);
    expect(source.queries).toHaveLength(1);
  });

  it('queries nothing for a hint about stored events', async () => {
    const { source, projector } = await aProjection();
    source.set({ runId: 'run-a', events: LOG });
    projector.hint(source.hint());
    await projector.drain();
    projector.hint(source.hint());
    await projector.drain();
    expect(source.queries).toHaveLength(1);
  });

  it('queries at once when a reader waits for exactly these events', async () => {
    const { source, projector, stored, listen } = await aProjection();
    listen();
    source.set({ runId: 'run-a', events: LOG });
    // The test waits for no timer: each takes a millisecond at least, and many turns of the loop pass in that.
    vi.useFakeTimers({ toFake: ['setTimeout'] });
    onTestFinished(() => {
      vi.useRealTimers();
    });
    projector.hint(source.hint({ urgency: 'now' }));
    for (let turns = 0; turns < 100 && (await stored()) !== LOG.length; turns += 1)
      await nextTurnOfLoop();
    expect(await stored()).toBe(LOG.length);
  });

  it('fetches all pages of a long log', async () => {
    const { source, projector, stored } = await aProjection();
    source.pageSize = 3;
    source.set({ runId: 'run-a', events: LOG });
    projector.hint(source.hint());
    await projector.drain();
    expect(await stored()).toBe(LOG.length);
  });

  it('has one query in flight a conversation, and loses no hint that comes meanwhile', async () => {
    const { source, projector, stored, listen } = await aProjection();
    listen();
    source.queryMs = 10;
    const run = { runId: 'run-a', events: LOG.slice(0, 1) };
    source.set(run);
    for (const event of LOG) {
      run.events = LOG.slice(0, event.seq);
      projector.hint(source.hint({ urgency: 'now' }));
      await new Promise((resolve) => setTimeout(resolve, 4));
    }
    await until('all is stored', async () => (await stored()) === LOG.length);
    expect(source.most).toBe(1);
  });

  it('queries once more when a hint overtook its task, and stops when the task was lost', async () => {
    const { source, projector, stored } = await aProjection();
    source.set({ runId: 'run-a', events: LOG.slice(0, 6) });
    projector.hint(source.hint({ seq: 9 }));
    await projector.drain();
    expect([await stored(), source.queries.length]).toEqual([6, 2]);
  });

  it('ignores a workflow that does not exist', async () => {
    const { source, projector, stored, said } = await aProjection();
    projector.hint(source.hint({ seq: 3 }));
    await projector.drain();
    expect(await stored()).toBe(0);
    expect(said).toHaveLength(1);
  });
});

describe('projecting through outages', () => {
  it('stores everything when the store is back, and logs the outage once', async () => {
    const { source, projector, stored, outage, said } = await aProjection();
    outage.isDown = true;
    source.set({ runId: 'run-a', events: LOG.slice(0, 6) });
    projector.hint(source.hint());
    await until('two tries', () => outage.refused >= 2);
    source.set({ runId: 'run-a', events: LOG });
    projector.hint(source.hint());
    outage.isDown = false;
    await until('all is stored', async () => (await stored()) === LOG.length);
    await until('the end is logged', () => said.length === 2);
    expect(said.map((line) => line.includes('again'))).toEqual([false, true]);
  });

  it('queries again when the workflow did not answer', async () => {
    const { source, projector, stored, said } = await aProjection();
    source.failing = true;
    source.set({ runId: 'run-a', events: LOG });
    projector.hint(source.hint());
    await until('a try', () => source.queries.length > 0);
    source.failing = false;
    await until('all is stored', async () => (await stored()) === LOG.length);
    expect(said).toHaveLength(2);
  });
});

describe('projecting runs that follow each other', () => {
  it('continues with the new run after a roll-over', async () => {
    const { log, source, projector, rows } = await aProjection();
    source.set({ runId: 'run-a', events: LOG.slice(0, 6) });
    projector.hint(source.hint());
    await projector.drain();
    source.addRun({ runId: 'run-b', events: LOG.slice(6, 9), carriedSeq: 6 });
    projector.hint(source.hint());
    await projector.drain();
    expect(await log.head(KEY)).toMatchObject({ generation: 1, lastSeq: 9, runId: 'run-b' });
    expect(await rows()).toHaveLength(9);
  });

  it('opens a new generation when a restarted workflow counts from one again', async () => {
    const { log, source, projector, rows, listen } = await aProjection();
    source.set({ runId: 'run-a', events: LOG });
    projector.hint(source.hint());
    await projector.drain();
    const heard = listen();
    const restarted = stamped([started(KEY, 'chain1'), ...asks('u1')], { clock: 7 });
    source.addRun({ runId: 'run-b', events: restarted });
    projector.hint(source.hint());
    await projector.drain();
    expect(await rows()).toEqual([
      '0:log_rewritten',
      '1:conversation_started',
      '2:user_message',
      '3:turn_started',
    ]);
    expect(heard).toEqual([{ type: 'appended', ...KEY, generation: 2, lastSeq: 3 }]);
    expect(await log.head(KEY)).toMatchObject({ runId: 'run-b' });
  });

  it('finds where a reset run diverged, with any number of events before its first hint', async () => {
    const { log, source, projector } = await aProjection();
    source.pageSize = 4;
    source.set({ runId: 'run-a', events: LOG });
    projector.hint(source.hint());
    await projector.drain();
    const other = stamped([...turn('t2'), ...turn('t3'), ...turn('t4')], { from: 7, clock: 9 });
    source.addRun({ runId: 'run-b', events: [...LOG.slice(0, 6), ...other] });
    projector.hint(source.hint());
    await projector.drain();
    const read = await log.read(KEY);
    expect(read?.events[0]).toMatchObject({ type: 'log_rewritten', divergedAtSeq: 7 });
    expect(read?.events.slice(1)).toEqual([...LOG.slice(0, 6), ...other]);
  });

  it('finds the divergence of a restored server, where even the run id is the same', async () => {
    const { log, source, projector } = await aProjection();
    source.set({ runId: 'run-a', events: LOG });
    projector.hint(source.hint());
    await projector.drain();
    const other = stamped([...turn('t3'), ...turn('t4')], { from: 12, clock: 9 });
    source.set({ runId: 'run-a', events: [...LOG.slice(0, 11), ...other] });
    projector.hint(source.hint());
    await projector.drain();
    const read = await log.read(KEY);
    expect(read?.events[0]).toMatchObject({ divergedAtSeq: 12 });
    expect(read?.events.slice(1)).toEqual([...LOG.slice(0, 11), ...other]);
  });

  it('drops events that a reset run does not have, even before that run decides anything', async () => {
    const { log, source, projector } = await aProjection();
    source.set({ runId: 'run-a', events: LOG });
    projector.hint(source.hint());
    await projector.drain();
    source.addRun({ runId: 'run-b', events: LOG.slice(0, 8) });
    await projector.catchUp(KEY, { runId: 'run-b' });
    expect(await log.head(KEY)).toMatchObject({ generation: 2, lastSeq: 8, runId: 'run-b' });
  });

  it('keeps the log when the current run has not decided anything yet', async () => {
    const { log, source, projector } = await aProjection();
    source.set({ runId: 'run-a', events: LOG });
    projector.hint(source.hint());
    await projector.drain();
    source.addRun({ runId: 'run-b', events: [] });
    await projector.catchUp(KEY, { runId: 'run-b' });
    expect(await log.head(KEY)).toMatchObject({ generation: 1, lastSeq: LOG.length });
  });

  it('queries the earlier run for events that the new one no longer has', async () => {
    const { source, projector, stored } = await aProjection();
    source.set({ runId: 'run-a', events: LOG.slice(0, 6) });
    projector.hint(source.hint());
    await projector.drain();
    source.set({ runId: 'run-a', events: LOG.slice(0, 11), status: 'closed' });
    source.addRun({ runId: 'run-b', events: LOG.slice(11), carriedSeq: 11 });
    projector.hint(source.hint());
    await projector.drain();
    expect(await stored()).toBe(LOG.length);
  });

  it('queries the earlier run for its unstored events, even before the new one decides anything', async () => {
    const { source, projector, stored } = await aProjection();
    source.set({ runId: 'run-a', events: LOG.slice(0, 6) });
    await projector.flush(KEY, 6);
    source.set({ runId: 'run-a', events: LOG, status: 'closed' });
    source.addRun({ runId: 'run-b', events: [], carriedSeq: LOG.length });
    await projector.catchUp(KEY, { runId: 'run-b' });
    expect(await stored()).toBe(LOG.length);
  });

  it('logs once that events are lost when no run has them, and sends no needless query', async () => {
    const { source, projector, stored, said } = await aProjection();
    source.set({ runId: 'run-b', events: LOG.slice(8), carriedSeq: 8 });
    projector.hint(source.hint());
    await projector.drain();
    projector.hint(source.hint());
    await projector.drain();
    expect(await stored()).toBe(0);
    expect(said).toEqual([expect.stringContaining('lost')]);
    expect(source.queries.length).toBeLessThan(5);
  });

  it('fills a gap that another process opened by rewriting the log', async () => {
    const { log, source, projector } = await aProjection();
    source.set({ runId: 'run-a', events: LOG.slice(0, 11) });
    projector.hint(source.hint());
    await projector.drain();
    const other = stamped([...turn('t2')].slice(0, 2), { from: 7, clock: 9 });
    await log.append({ ...KEY, runId: 'run-x', events: other });
    source.set({ runId: 'run-a', events: LOG });
    projector.hint(source.hint());
    await projector.drain();
    expect((await log.read(KEY))?.events.slice(1)).toEqual(LOG);
    expect(await log.head(KEY)).toMatchObject({ generation: 3 });
  });
});

describe('flushing', () => {
  it('stores everything through a seq without any hint', async () => {
    const { source, projector } = await aProjection();
    source.set({ runId: 'run-a', events: LOG });
    expect(await projector.flush(KEY, 9)).toEqual({ storedSeq: LOG.length });
    expect(await projector.flush(KEY, LOG.length)).toEqual({ storedSeq: LOG.length });
  });

  it('waits for a query in flight', async () => {
    const { source, projector } = await aProjection();
    source.queryMs = 20;
    source.set({ runId: 'run-a', events: LOG.slice(0, 6) });
    projector.hint(source.hint());
    const draining = projector.drain();
    source.set({ runId: 'run-a', events: LOG });
    const flushed = await Promise.all([
      projector.flush(KEY, LOG.length),
      projector.flush(KEY, LOG.length),
    ]);
    await draining;
    expect(flushed).toEqual([{ storedSeq: LOG.length }, { storedSeq: LOG.length }]);
    expect(source.most).toBe(1);
  });

  it('is not satisfied with the seqs of an earlier incarnation', async () => {
    const { log, source, projector } = await aProjection();
    source.set({ runId: 'run-a', events: LOG });
    await projector.flush(KEY, LOG.length);
    const restarted = stamped([started(KEY, 'chain1'), ...asks('u1'), ...answers('u1')], {
      clock: 3,
    });
    source.addRun({ runId: 'run-b', events: restarted });
    await projector.flush(KEY, 6);
    expect((await log.read(KEY))?.events.slice(1)).toEqual(restarted);
  });

  it('says that the store is unavailable when it cannot be written for seconds', async () => {
    const { source, projector, outage } = await aProjection();
    source.set({ runId: 'run-a', events: LOG });
    outage.isDown = true;
    await expect(projector.flush(KEY, LOG.length)).rejects.toThrow(StoreUnavailable);
    outage.isDown = false;
    expect(await projector.flush(KEY, LOG.length)).toEqual({ storedSeq: LOG.length });
  });
});

describe('shutting down', () => {
  it('stores what was hinted a moment ago', async () => {
    const { source, projector, stored } = await aProjection();
    source.set({ runId: 'run-a', events: LOG });
    projector.hint(source.hint());
    await projector.drain();
    expect(await stored()).toBe(LOG.length);
  });

  it('does not wait for a store that is down', async () => {
    const { source, projector, outage } = await aProjection();
    outage.isDown = true;
    source.set({ runId: 'run-a', events: LOG });
    projector.hint(source.hint());
    const before = performance.now();
    await projector.drain();
    expect(performance.now() - before).toBeLessThan(100);
  });
});
