import { describe, expect, it } from 'vitest';

import { Sweep } from '../../../../src/projection/projector/sweep.js';
import { promise } from '../../../support/promise.js';
import { closes, KEY, stamped, started, turn } from '../../../support/samples/log-events.js';
import { until } from '../../../support/until.js';
import { aProjection, aSilentServer } from '../setup.js';

const LOG = stamped([started(), ...turn('t1'), ...turn('t2')]);

async function aSweep() {
  const projection = await aProjection();
  const { log, source, projector, logger } = projection;
  const create = (intervalMs = 30_000) => new Sweep({ log, source, projector, logger, intervalMs });
  return { ...projection, create, sweep: create() };
}

describe('the sweep', () => {
  it('stores the events of lost hints, and queries only where a run has moved', async () => {
    const { source, projector, stored, sweep } = await aSweep();
    source.set({ runId: 'run-a', events: LOG.slice(0, 6) });
    await projector.flush(KEY, 6);
    await sweep.pass();
    const before = source.queries.length;
    expect(await sweep.pass()).toMatchObject({ checked: 1, asked: 0 });
    expect(source.queries).toHaveLength(before);
    source.set({ runId: 'run-a', events: LOG });
    expect(await sweep.pass()).toMatchObject({ checked: 1, asked: 1 });
    expect(await stored()).toBe(LOG.length);
    expect(await sweep.pass()).toMatchObject({ checked: 1, asked: 0 });
  });

  it('queries no run whose events came with the length of its history', async () => {
    const { source, projector, stored, sweep } = await aSweep();
    source.set({ runId: 'run-a', events: LOG, historyLength: 33 });
    const events = source.events.bind(source);
    source.events = async (key, query) => ({ ...(await events(key, query)), historyLength: 33 });
    projector.hint(source.hint());
    await until('the events are stored', async () => (await stored()) === LOG.length);
    expect(await sweep.pass()).toMatchObject({ checked: 1, asked: 0 });
    source.set({ runId: 'run-a', events: LOG, historyLength: 34 });
    expect(await sweep.pass()).toMatchObject({ checked: 1, asked: 1 });
  });

  it('queries no run that this worker follows by hints', async () => {
    const { source, projector, stored, sweep } = await aSweep();
    source.set({ runId: 'run-a', events: LOG.slice(0, 6) });
    await projector.flush(KEY, 6);
    source.set({ runId: 'run-a', events: LOG });
    projector.hint(source.hint());
    const before = source.queries.length;
    expect(await sweep.pass()).toMatchObject({ checked: 1, asked: 0 });
    expect(source.queries).toHaveLength(before);
    await until('the events are stored', async () => (await stored()) === LOG.length);
    expect(await sweep.pass()).toMatchObject({ checked: 1, asked: 1 });
  });

  it('does not turn the head of a log back, if a later run stores its events while the one before is read', async () => {
    const { log, source, projector, sweep } = await aSweep();
    source.set({ runId: 'run-a', events: LOG });
    await projector.flush(KEY, LOG.length);
    source.addRun({ runId: 'run-b', events: [], carriedSeq: LOG.length });
    const later = stamped(turn('t3'), { from: LOG.length + 1 });
    const events = source.events.bind(source);
    source.events = async (key, query) => {
      const page = await events(key, query);
      await log.append({ ...KEY, runId: 'run-c', historyLength: 9, events: later });
      return page;
    };
    expect(await sweep.pass()).toMatchObject({ asked: 1 });
    expect(await log.head(KEY)).toMatchObject({ runId: 'run-c', historyLength: 9 });
  });

  it('finds a conversation that the store does not have', async () => {
    const { source, stored, sweep } = await aSweep();
    source.set({ runId: 'run-a', events: LOG });
    expect(await sweep.pass()).toMatchObject({ checked: 0, asked: 0, found: 1 });
    expect(await stored()).toBe(LOG.length);
  });

  it('finds such a conversation although another one does not answer', async () => {
    const { source, log, sweep } = await aSweep();
    const silent = { ...KEY, conversationId: 'a-silent-one' };
    const other = { ...KEY, conversationId: 'b-another-one' };
    for (const key of [silent, other])
      source.set({ runId: 'r', events: stamped([started(key)]) }, key);
    const events = source.events.bind(source);
    source.events = async (key, query) => {
      if (key.conversationId === silent.conversationId) throw new Error('no worker answers');
      return await events(key, query);
    };
    expect(await sweep.pass()).toMatchObject({ found: 1 });
    expect((await log.head(other))?.lastSeq).toBe(1);
  });

  it('finds a conversation that was opened again', async () => {
    const { source, projector, stored, sweep } = await aSweep();
    const closed = [...LOG, ...stamped([closes()], { from: 12 })];
    source.set({ runId: 'run-a', events: closed, status: 'closed' });
    await projector.flush(KEY, 12);
    const reopened = stamped([{ ...started(), reopened: true } as ReturnType<typeof started>], {
      from: 13,
    });
    source.addRun({ runId: 'run-b', events: reopened, carriedSeq: 12 });
    await sweep.pass();
    expect(await stored()).toBe(13);
  });

  it('finds closed conversations that the store does not have, a hundred each time, and none that were deleted', {
    ...promise('G228'),
  }, async () => {
    const { source, log, create } = await aSweep();
    const ids = Array.from({ length: 130 }, (_, nth) => `closed-${nth + 100}`);
    for (const id of ids) {
      const key = { ...KEY, conversationId: id };
      source.set({ runId: 'r', events: stamped([started(key), closes()]), status: 'closed' }, key);
    }
    await log.beginDeletion({ ...KEY, conversationId: 'closed-100', runIds: [] });
    await log.finishDeletion({ ...KEY, conversationId: 'closed-100', runIds: [] });
    const sweep = create();
    const found: number[] = [];
    for (let pass = 0; pass < 31; pass += 1) found.push((await sweep.pass())?.found ?? 0);
    expect(found.filter((count) => count > 0)).toEqual([100, 29]);
    expect(await log.unknown(ids.map((conversationId) => ({ ...KEY, conversationId })))).toEqual(
      [],
    );
    expect(await log.head({ ...KEY, conversationId: 'closed-100' })).toBeUndefined();
    const queries = source.queries.length;
    for (let pass = 0; pass < 10; pass += 1) await sweep.pass();
    expect(source.queries).toHaveLength(queries);
  });

  it('is done by one process at a time, and by the next when that one stops', async () => {
    const { sweep, create } = await aSweep();
    const other = create();
    expect(await sweep.pass()).toBeDefined();
    expect(await other.pass()).toBeUndefined();
    await sweep.stop();
    expect(await other.pass()).toBeDefined();
  });

  it('logs once that a workflow is gone, and that one ended without closing', async () => {
    const { source, projector, stored, sweep, said } = await aSweep();
    source.set({ runId: 'run-a', events: LOG });
    await projector.flush(KEY, LOG.length);
    await sweep.pass();
    source.set({ runId: 'run-a', events: LOG, status: 'closed' });
    expect(await sweep.pass()).toMatchObject({ endedSilently: 1 });
    expect(await stored()).toBe(LOG.length);
    source.runs.clear();
    expect(await sweep.pass()).toMatchObject({ gone: 1 });
    await sweep.pass();
    expect(said).toHaveLength(1);
  });

  it('continues when one conversation does not answer', async () => {
    const { log, source, sweep } = await aSweep();
    for (const id of ['a', 'b', 'c']) {
      const key = { ...KEY, conversationId: id };
      await log.append({ ...key, runId: 'r', events: stamped([started(key)]) });
      if (id !== 'b')
        source.set({ runId: 'r', events: stamped([started(key), ...turn(`t${id}`)]) }, key);
      else source.set({ runId: 'r2', events: [] }, key);
    }
    const failing = source.events.bind(source);
    source.events = async (key, query) => {
      if (key.conversationId === 'b') throw new Error('no worker answers');
      return await failing(key, query);
    };
    expect(await sweep.pass()).toMatchObject({ checked: 3, asked: 2, failed: 1 });
    expect((await log.head({ ...KEY, conversationId: 'c' }))?.lastSeq).toBe(6);
  });

  it('costs the same for any number of idle conversations: so many checks and three statements a pass, in turn', {
    ...promise('G237'),
  }, async () => {
    const { log, source, projector } = await aSweep();
    const statements: string[] = [];
    const counted = new Proxy(log, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name);
        if (typeof value !== 'function') return value;
        return (...args: unknown[]): unknown => {
          statements.push(String(name));
          return Reflect.apply(value, target, args);
        };
      },
    });
    const sweep = new Sweep({ log: counted, source, projector, checksPerPass: 30 });
    const checked: string[] = [];
    const describe = source.describe.bind(source);
    source.describe = async (key) => {
      checked.push(key.conversationId);
      return await describe(key);
    };
    for (let nth = 0; nth < 100; nth += 1) {
      const key = { ...KEY, conversationId: `c${nth + 100}` };
      const events = stamped([started(key)]);
      await log.append({ ...key, runId: 'r', historyLength: 3, events });
      source.set({ runId: 'r', events }, key);
    }
    // The first pass also searches for conversations that the store does not have: one more statement for 500 of
    // them.
    await sweep.pass();
    expect(statements).toEqual(['acquireLease', 'recentHeads', 'openHeads', 'notOpen']);
    for (let pass = 0; pass < 9; pass += 1) {
      statements.length = 0;
      const before = checked.length;
      expect(await sweep.pass()).toMatchObject({ asked: 0, found: 0, failed: 0 });
      expect(checked.length - before).toBeLessThanOrEqual(30);
      expect(statements).toEqual(['acquireLease', 'recentHeads', 'openHeads']);
    }
    // By then all have had their turn, with recent appends or without.
    expect(new Set(checked).size).toBe(100);
  });

  it('repeats itself, survives a store outage, and stops', async () => {
    const { source, outage, stored, create } = await aSweep();
    const sweep = create(10);
    outage.isDown = true;
    sweep.start();
    sweep.start();
    await until('passes failed', () => outage.refused > 2);
    source.set({ runId: 'run-a', events: LOG });
    outage.isDown = false;
    await until('the log is stored', async () => (await stored()) === LOG.length);
    await sweep.stop();
    const before = source.describes;
    await new Promise((resolve) => setTimeout(resolve, 40));
    expect(source.describes).toBe(before);
  });

  it('stops with the requests that are under way, however many conversations it has not compared', async () => {
    const { log, source, create } = await aSweep();
    for (let nth = 0; nth < 100; nth += 1) {
      const key = { ...KEY, conversationId: `c${nth + 100}` };
      await log.append({ ...key, runId: 'r', historyLength: 3, events: stamped([started(key)]) });
    }
    const server = aSilentServer();
    source.describe = server.request;
    const sweep = create(60);
    sweep.start();
    await until('requests are under way', () => server.count() === 8);
    const stopped = sweep.stop();
    server.pass();
    await stopped;
    expect(server.count()).toBe(8);
  });

  it('has the duties after its passes end early when it stops', async () => {
    const { log, source, projector } = await aSweep();
    const seen: string[] = [];
    const afterPass = async (isStopping: () => boolean) => {
      seen.push('begun');
      await until('the sweep stops', isStopping);
      seen.push('ended');
    };
    const sweep = new Sweep({ log, source, projector, afterPass, intervalMs: 60 });
    sweep.start();
    await until('the duties have begun', () => seen.length === 1);
    await sweep.stop();
    expect(seen).toEqual(['begun', 'ended']);
  });

  it('begins as soon as it leads, long before an interval is over: a killed leader had events that no store has', {
    ...promise('G234'),
  }, async () => {
    const { source, stored, log, create } = await aSweep();
    await log.acquireLease({ name: 'sweep', holder: 'killed', ttlMs: 200 });
    source.set({ runId: 'run-a', events: LOG });
    const sweep = create(6_000);
    sweep.start();
    await until('the log is stored', async () => (await stored()) === LOG.length, {
      timeoutMs: 5_000,
    });
    // Another one finds the lease held, until this one hands it on.
    const other = create(6_000);
    expect(await other.pass()).toBeUndefined();
    await sweep.stop();
    expect(await other.pass()).toBeDefined();
  });

  it('is taken over seconds after its leader was killed, at any interval of its passes', {
    ...promise('G234'),
  }, async () => {
    const { log, create, source, stored } = await aSweep();
    const acquire = log.acquireLease.bind(log);
    const leader = create(30_000);
    const given: number[] = [];
    log.acquireLease = async (lease) => {
      given.push(lease.ttlMs);
      return await acquire(lease);
    };
    await leader.pass();
    // The leader is killed: it does not hand the lease on.
    source.set({ runId: 'run-a', events: LOG });
    const killedAt = performance.now();
    const next = create(30_000);
    next.start();
    await until('the log is stored', async () => (await stored()) === LOG.length);
    expect(performance.now() - killedAt).toBeLessThan(6_000);
    expect(new Set(given)).toEqual(new Set([3_000]));
    await next.stop();
  });
});
