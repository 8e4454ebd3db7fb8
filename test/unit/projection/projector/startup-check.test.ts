/** The check of a worker that starts: events that lost workers never reported. */
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { StartupCheck } from '../../../../src/projection/projector/startup-check.js';
import { promise } from '../../../support/promise.js';
import { KEY, stamped, started, turn } from '../../../support/samples/log-events.js';
import { until } from '../../../support/until.js';
import { aProjection, aSilentServer } from '../setup.js';

const LOG = stamped([started(), ...turn('t1'), ...turn('t2')]);

async function aStart(
  options: { readonly intervalMs?: number; readonly maxConversations?: number } = {},
) {
  const projection = await aProjection();
  const { log, source, projector, logger } = projection;
  const create = () => new StartupCheck({ log, source, projector, logger, ...options });
  return { ...projection, create, look: create() };
}

describe('a worker that starts', () => {
  it('stores the unreported events of a lost worker, though another worker leads the sweep', {
    ...promise('G235'),
  }, async () => {
    const { log, source, stored, look } = await aStart();
    await log.acquireLease({ name: 'sweep', holder: 'another', ttlMs: 60_000 });
    await log.append({ ...KEY, runId: 'run-a', historyLength: 9, events: LOG.slice(0, 6) });
    source.set({ runId: 'run-a', events: LOG });
    expect(await look.run()).toBe(1);
    await until('all is stored', async () => (await stored()) === LOG.length);
  });

  it('finds a conversation without stored events, and one that was continued in another run', async () => {
    const { log, source, look } = await aStart();
    const unheard = { ...KEY, conversationId: 'unheard-of' };
    source.set({ runId: 'r', events: stamped([started(unheard)]) }, unheard);
    await log.append({ ...KEY, runId: 'run-a', events: LOG.slice(0, 6) });
    source.set({ runId: 'run-a', events: LOG.slice(0, 6) });
    source.addRun({ runId: 'run-b', events: LOG.slice(6), carriedSeq: 6 });
    expect(await look.run()).toBe(2);
    await until(
      'both are stored',
      async () => [(await log.head(unheard))?.lastSeq, (await log.head(KEY))?.lastSeq],
      { holds: ([one, other]) => one === 1 && other === LOG.length },
    );
  });

  it('queries nothing where no run has moved since it was stored', async () => {
    const { log, source, look } = await aStart();
    source.set({ runId: 'run-a', events: LOG, historyLength: 30 });
    await log.append({ ...KEY, runId: 'run-a', historyLength: 30, events: LOG });
    expect(await look.run()).toBe(0);
    expect(source.queries).toEqual([]);
  });

  it.each([false, true])(
    'lets all workers answer for a run that has moved, before the query; the server refuses it: %s',
    promise('G235'),
    async (refuses) => {
      const { log, source, stored, look } = await aStart();
      const [same, ended] = [
        { ...KEY, conversationId: 'same' },
        { ...KEY, conversationId: 'ended' },
      ];
      for (const key of [same, ended])
        await log.append({ ...key, runId: 'r', historyLength: 3, events: stamped([started(key)]) });
      source.set({ runId: 'r', events: stamped([started(same)]), historyLength: 3 }, same);
      source.set({ runId: 'r', events: [], historyLength: 9, endedBy: 'failed' }, ended);
      await log.append({ ...KEY, runId: 'run-a', historyLength: 9, events: LOG.slice(0, 6) });
      source.set({ runId: 'run-a', events: LOG });
      source.refusesToForget = refuses;
      await look.run();
      await until('all is stored', async () => (await stored()) === LOG.length);
      expect(source.forgotten).toEqual([`${KEY.conversationId} run-a before query 1`]);
    },
  );

  it('leaves a run alone whose events this worker reads already', async () => {
    const { log, source, projector, stored, look } = await aStart();
    await log.append({ ...KEY, runId: 'run-a', historyLength: 9, events: LOG.slice(0, 6) });
    source.set({ runId: 'run-a', events: LOG });
    source.queryMs = 50;
    projector.check(KEY, { runId: 'run-a', seq: LOG.length });
    await look.run();
    await until('all is stored', async () => (await stored()) === LOG.length);
    expect(source.forgotten).toEqual([]);
  });

  it('repeats queries that no worker answers yet: it has only just begun to poll', async () => {
    const { log, source, stored, look } = await aStart();
    await log.append({ ...KEY, runId: 'run-a', events: LOG.slice(0, 6) });
    source.set({ runId: 'run-a', events: LOG });
    source.failing = true;
    expect(await look.run()).toBe(1);
    await until('it was asked in vain', () => source.queries.length > 1);
    source.failing = false;
    await until('all is stored', async () => (await stored()) === LOG.length);
  });

  it('checks a bounded number of conversations, those that changed last', async () => {
    const { log, source, look } = await aStart({ maxConversations: 3 });
    const looked: string[] = [];
    const describe = source.describe.bind(source);
    source.describe = async (key) => {
      looked.push(key.conversationId);
      return await describe(key);
    };
    for (let nth = 0; nth < 8; nth += 1) {
      const key = { ...KEY, conversationId: `c${nth}` };
      const events = stamped([started(key)]);
      await log.append({ ...key, runId: 'r', historyLength: 3, events });
      source.set({ runId: 'r', events }, key);
      // The store's clock counts milliseconds.
      await sleep(2);
    }
    await look.run();
    expect(looked).toEqual(['c7', 'c6', 'c5']);
  });

  it('shares the check with others that start beside it: one of ten checks at once, and one for those who came after it', {
    ...promise('G235'),
  }, async () => {
    const { source, log, create } = await aStart({ intervalMs: 200 });
    await log.append({ ...KEY, runId: 'run-a', historyLength: 9, events: LOG.slice(0, 6) });
    source.set({ runId: 'run-a', events: LOG.slice(0, 6), historyLength: 9 });
    const checks = await Promise.all(Array.from({ length: 10 }, () => create().run()));
    const own = checks.filter((moved) => moved !== undefined);
    expect(own.length).toBeGreaterThanOrEqual(2);
    expect(own.length).toBeLessThanOrEqual(3);
    expect(source.describes).toBe(own.length);
  });

  it('ends with the requests that are under way when it is stopped', async () => {
    const { log, source, look } = await aStart();
    for (let nth = 0; nth < 40; nth += 1) {
      const key = { ...KEY, conversationId: `c${nth}` };
      await log.append({ ...key, runId: 'r', historyLength: 3, events: stamped([started(key)]) });
    }
    const server = aSilentServer();
    source.describe = server.request;
    const checked = look.run();
    await until('requests are under way', () => server.count() === 16);
    const stopped = look.stop();
    server.pass();
    await stopped;
    expect(server.count()).toBe(16);
    expect(await checked).toBe(0);
  });

  it('does not wait for the check of another worker when it is stopped', async () => {
    const { log, look } = await aStart({ intervalMs: 3_600_000 });
    await log.acquireLease({ name: 'startup-check', holder: 'another', ttlMs: 3_600_000 });
    const checked = look.run();
    await look.stop();
    expect(await checked).toBeUndefined();
  });

  it('starts even while the store is away', async () => {
    const { outage, look, said } = await aStart();
    outage.isDown = true;
    expect(await look.run()).toBeUndefined();
    expect(said).toHaveLength(1);
  });
});
