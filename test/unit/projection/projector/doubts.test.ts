/** Hints of runs that were replayed, or refused an input: the worker that decided their last events may have been lost before it stored them. */
import { describe, expect, it } from 'vitest';
import { promise } from '../../../support/promise.js';
import { KEY, stamped, started, turn } from '../../../support/samples/log-events.js';
import { until } from '../../../support/until.js';
import { aProjection } from '../setup.js';

const LOG = stamped([started(), ...turn('t1'), ...turn('t2')]);

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
