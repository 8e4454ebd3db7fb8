/** Hints of runs that were replayed, or refused an input: the worker that decided their last events may have been lost before it stored them. */
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { EventsWanted } from '../../../../src/projection/source/events-query.js';
import type { CanonicalEvent } from '../../../../src/protocol/log/events.js';
import { patient } from '../../../support/patience.js';
import { promise } from '../../../support/promise.js';
import { KEY, stamped, started, turn } from '../../../support/samples/log-events.js';
import { until } from '../../../support/until.js';
import { aProjection } from '../setup.js';

const LOG = stamped([started(), ...turn('t1'), ...turn('t2')]);

/** A check whose query of the newest run waits for a lost worker: it ends when it is given up, or with `end`. */
async function aHangingQuery() {
  const projection = await aProjection();
  const { source, projector, log } = projection;
  await log.append({ ...KEY, runId: 'run-a', events: LOG.slice(0, 6) });
  source.set({ runId: 'run-a', events: LOG });
  const ends: (() => void)[] = [];
  const hangs = {
    begun: 0,
    givenUp: 0,
    isOver: false,
    pushed: undefined as readonly CanonicalEvent[] | undefined,
    end: () => {
      hangs.isOver = true;
      for (const end of ends) end();
    },
  };
  onTestFinished(hangs.end);
  const events = source.events.bind(source);
  source.events = async (key, query: EventsWanted) => {
    const { pushed } = hangs;
    if (pushed !== undefined && query.upTo !== undefined) {
      const page = pushed.filter(({ seq }) => seq > query.after);
      return { events: page, lastSeq: LOG.length, firstSeq: 1, more: false };
    }
    hangs.begun += 1;
    if (!hangs.isOver)
      await new Promise<void>((resolve, reject) => {
        if (query.signal?.aborted === true) {
          hangs.givenUp += 1;
          reject(new Error('given up'));
        }
        ends.push(resolve);
        query.signal?.addEventListener('abort', () => {
          hangs.givenUp += 1;
          reject(new Error('given up'));
        });
      });
    return await events(key, query);
  };
  projector.check(KEY, { runId: 'run-a' });
  await until('the query hangs', () => hangs.begun === 1);
  return { ...projection, hangs };
}

describe('a run that is in doubt', () => {
  it('is queried at once for events that the store lacks, although there is no subscriber and many others move', async () => {
    const { source, projector, log, stored } = await aProjection();
    await log.append({ ...KEY, runId: 'run-a', events: LOG.slice(0, 6) });
    source.set({ runId: 'run-a', events: LOG });
    // Each conversation that moves makes the others wait longer.
    for (let nth = 0; nth < 100; nth += 1)
      projector.hint(source.hint({ conversationId: `other-${nth}`, seq: 1 }));
    const before = performance.now();
    projector.hint(source.hint({ doubt: true }));
    await until('all is stored', async () => (await stored()) === LOG.length);
    expect(performance.now() - before).toBeLessThan(150);
  });

  it('is not queried when the store has as much, with any number of doubts and any replayed part', {
    ...promise('G236'),
  }, async () => {
    const { source, projector, log } = await aProjection();
    source.set({ runId: 'run-a', events: LOG });
    await log.append({ ...KEY, runId: 'run-a', events: LOG });
    for (const { seq } of LOG) projector.hint(source.hint({ seq, doubt: true }));
    await projector.drain();
    for (let nth = 0; nth < 10; nth += 1) projector.hint(source.hint({ doubt: true }));
    await projector.drain();
    expect(source.queries).toEqual([]);
    expect(source.describes).toBe(0);
  });

  it('is queried again while it does not answer', async () => {
    const { source, projector, stored } = await aProjection();
    source.set({ runId: 'run-a', events: LOG });
    source.failing = true;
    projector.hint(source.hint({ doubt: true }));
    await until('it was asked', () => source.queries.length > 0);
    source.failing = false;
    await until('all is stored', async () => (await stored()) === LOG.length);
  });

  it('is stored at once, although a query of it hangs, when its events come with the replay', {
    ...promise('G236'),
  }, async () => {
    const { log, source, hangs, projector, stored } = await aHangingQuery();
    source.pushed = (hint) => {
      hangs.pushed = hint.pushed?.events;
    };
    const replayed = { task: 9, startedAt: 1, liveFrom: 1, events: LOG };
    projector.hint(source.hint({ seq: 6, doubt: true, pushed: replayed }));
    expect(hangs.givenUp).toBe(0);
    projector.hint(source.hint({ doubt: true, pushed: replayed }));
    expect(hangs.givenUp).toBe(1);
    await until('all is stored', async () => (await stored()) === LOG.length);
    expect(await log.head(KEY)).toMatchObject({ generation: 1 });
  });

  it('is queried anew when it is replayed here, and the query that hangs gets no answer after that', {
    ...promise('G236'),
  }, async () => {
    const { source, hangs, projector, stored } = await aHangingQuery();
    hangs.isOver = true;
    projector.hint(source.hint({ doubt: true }));
    await until('all is stored', async () => (await stored()) === LOG.length);
    expect(hangs.givenUp).toBe(1);
  });

  it('is queried anew when one more worker was lost, once the query has waited for the first', async () => {
    const { source, hangs, projector, stored } = await aHangingQuery();
    projector.check(KEY, { runId: 'run-a' });
    expect(hangs.givenUp).toBe(0);
    await until('it is given up', () => {
      projector.check(KEY, { runId: 'run-a' });
      return hangs.givenUp === 1;
    });
    hangs.isOver = true;
    await until('all is stored', async () => (await stored()) === LOG.length);
    expect(source.queries.length).toBeLessThan(4);
  });

  it('gives up two queries in a row at most', async () => {
    const { source, hangs, projector } = await aHangingQuery();
    for (let seq = LOG.length; hangs.givenUp < 2; seq += 1) {
      const begun = hangs.begun;
      const pushed = { task: seq, startedAt: 1, liveFrom: 1, events: [] };
      projector.hint(source.hint({ seq, doubt: true, pushed }));
      await until('the next query hangs', () => hangs.begun > begun);
    }
    projector.hint(
      source.hint({
        seq: 100,
        doubt: true,
        pushed: { task: 1, startedAt: 1, liveFrom: 1, events: [] },
      }),
    );
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect([hangs.givenUp, hangs.begun]).toEqual([2, 3]);
    hangs.end();
  });

  it('holds up the end of its worker for a second at most when no worker answers for it', async () => {
    const { projector, hangs } = await aHangingQuery();
    const begun = performance.now();
    await projector.drain();
    await projector.drain();
    expect(performance.now() - begun).toBeLessThan(patient(2_500));
    expect([hangs.begun, hangs.givenUp]).toEqual([1, 1]);
  });

  it('is queried at most a dozen times within a minute when no worker answers for it', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    onTestFinished(() => {
      vi.useRealTimers();
    });
    const { source, projector } = await aProjection();
    source.set({ runId: 'run-a', events: LOG });
    let asked = 0;
    source.events = async () => {
      asked += 1;
      await new Promise((resolve) => setTimeout(resolve, 4_000));
      throw new Error('no worker answers');
    };
    projector.check(KEY, { runId: 'run-a' });
    await vi.advanceTimersByTimeAsync(20_000);
    expect(asked).toBe(5);
    await vi.advanceTimersByTimeAsync(100_000);
    expect(asked).toBeGreaterThan(6);
    expect(asked).toBeLessThanOrEqual(12);
  });

  it('is queried again at once when it moves in the pause after a query without an answer', async () => {
    const { source, projector, stored } = await aProjection();
    source.set({ runId: 'run-a', events: LOG });
    source.failing = true;
    projector.check(KEY, { runId: 'run-a' });
    await until('four queries had no answer', () => source.queries.length === 4);
    source.failing = false;
    const askedAt = performance.now();
    projector.hint(source.hint({ doubt: true }));
    await until('all is stored', async () => (await stored()) === LOG.length);
    // The pause would have been two seconds.
    expect(performance.now() - askedAt).toBeLessThan(patient(1_000));
  });

  it('is left alone when it is an older run, which is replayed when it is queried', async () => {
    const { source, projector, stored } = await aProjection();
    source.set({ runId: 'run-a', events: LOG.slice(0, 6) });
    source.addRun({ runId: 'run-b', events: LOG.slice(6), carriedSeq: 6 });
    projector.hint(source.hint({ runId: 'run-a', seq: 6, doubt: true }));
    await projector.drain();
    expect(source.queries).toEqual([]);
    expect(await stored()).toBe(0);
  });

  it('is queried once where each answer is a replay that doubts again, and the store cannot have all', async () => {
    const { source, projector, said } = await aProjection();
    source.set({ runId: 'run-a', events: LOG.slice(3), carriedSeq: 3 });
    source.previousRun = async () => await Promise.reject(new Error('no run answers'));
    const events = source.events.bind(source);
    source.events = async (key, query) => {
      for (const { seq } of LOG.slice(3)) projector.hint(source.hint({ seq, doubt: true }));
      return await events(key, query);
    };
    projector.hint(source.hint({ doubt: true }));
    await until('the gap is logged', () => said.length > 0);
    await projector.drain();
    expect(source.queries.length).toBeLessThan(10);
  });

  it('does not delay a newer run, whose hint came before it: a roll-over, and a replay of the run before', async () => {
    const { source, projector, log, stored } = await aProjection();
    await log.append({ ...KEY, runId: 'run-a', events: LOG.slice(0, 6) });
    source.set({ runId: 'run-a', events: LOG.slice(0, 6) });
    source.addRun({ runId: 'run-b', events: LOG.slice(6), carriedSeq: 6 });
    projector.hint(source.hint({ runId: 'run-b' }));
    projector.hint(source.hint({ runId: 'run-a', seq: 6, doubt: true }));
    await until('all is stored', async () => (await stored()) === LOG.length);
  });

  it('holds up the end of its worker for a second, also when it is wanted again meanwhile', async () => {
    const { projector, hangs } = await aHangingQuery();
    const before = performance.now();
    const drained = projector.drain();
    projector.check(KEY, { runId: 'run-a' });
    await drained;
    expect(performance.now() - before).toBeLessThan(patient(1_900));
    expect(hangs.begun).toBe(hangs.givenUp);
  });

  it('holds it up for no longer where more conversations hang than are queried at once', async () => {
    const { projector, hangs } = await aHangingQuery();
    for (let nth = 0; nth < 50; nth += 1)
      projector.check({ ...KEY, conversationId: `other-${nth}` }, { runId: 'run-a' });
    const before = performance.now();
    await projector.drain();
    expect(performance.now() - before).toBeLessThan(patient(1_900));
    expect(hangs.begun).toBe(hangs.givenUp);
  });

  it('is read together with new events: one query brings both', async () => {
    const { source, projector, log, stored } = await aProjection();
    await log.append({ ...KEY, runId: 'run-a', events: LOG.slice(0, 3) });
    source.set({ runId: 'run-a', events: LOG });
    projector.hint(source.hint({ seq: 6, doubt: true }));
    projector.hint(source.hint());
    await until('all is stored', async () => (await stored()) === LOG.length);
    await projector.drain();
    expect(source.queries).toHaveLength(1);
  });
});
