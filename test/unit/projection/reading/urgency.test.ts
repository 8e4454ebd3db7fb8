import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { FakeRun } from '../../../support/fakes/fake-source.js';
import { KEY, stamped, started, turn } from '../../../support/samples/log-events.js';
import { until } from '../../../support/until.js';
import { aProjection } from '../setup.js';

const LOG = stamped([started(), ...turn('t1'), ...turn('t2')]);

describe('events that a reader waits for while other calls run', () => {
  it('are fetched soon, together with those that come meanwhile', async () => {
    const { source, projector, stored, listen } = await aProjection();
    listen();
    const run: FakeRun = { runId: 'run-a', events: LOG.slice(0, 4) };
    source.set(run);
    projector.hint(source.hint({ urgency: 'soon' }));
    await sleep(50);
    expect(source.queries).toHaveLength(0);
    run.events = LOG;
    projector.hint(source.hint({ urgency: 'now' }));
    await until('all is stored', async () => (await stored()) === LOG.length);
    expect(source.queries).toHaveLength(1);
  });

  it('wait a quarter of a second at most, with any number of moving conversations', async () => {
    const { source, projector, live, log } = await aProjection();
    const keys = Array.from({ length: 40 }, (_, index) => ({
      ...KEY,
      conversationId: `c${index}`,
    }));
    const heard: string[] = [];
    const before = performance.now();
    for (const key of keys) {
      source.set({ runId: 'run-a', events: LOG }, key);
      live.subscribe(key, { live: true }, ({ conversationId }) => heard.push(conversationId));
      projector.hint({ ...source.hint({ seq: LOG.length }), ...key, urgency: 'soon' });
    }
    await until('all are stored', () => heard.length === keys.length);
    // Others wait for a second where forty move at once.
    expect(performance.now() - before).toBeLessThan(900);
    expect((await log.head(keys[39] ?? KEY))?.lastSeq).toBe(LOG.length);
  });
});
