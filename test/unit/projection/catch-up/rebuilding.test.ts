import { describe, expect, it } from 'vitest';

import { applyAll } from '../../../../src/core/apply/apply.js';
import {
  closes,
  KEY,
  outline,
  stamped,
  started,
  turn,
} from '../../../support/samples/log-events.js';
import { aReader } from '../setup.js';

const LOG = stamped([started(), ...turn('t1'), ...turn('t2')]);
const OTHER = stamped([...turn('t2', 'another'), ...turn('t3')], { from: 7, clock: 9 });

describe('rebuilding a closed conversation', () => {
  it('folds its whole log, over pages and rewrites, into the state to carry', async () => {
    const { reader, store } = await aReader();
    await store(LOG);
    await store(OTHER, 'run-b');
    await store(stamped([closes()], { from: 17 }), 'run-b');
    const events = [...LOG.slice(0, 6), ...OTHER, ...stamped([closes()], { from: 17 })];
    expect(await reader.restoreState(KEY)).toEqual({
      version: 1,
      state: applyAll(events),
      events: [],
      reopened: true,
    });
  });

  it('fetches the turns and the close that the store missed in an outage', async () => {
    const { reader, source, store, rows } = await aReader({ withSource: true });
    const whole = [...LOG, ...stamped([closes()], { from: 12 })];
    await store(LOG.slice(0, 3));
    source.pageSize = 4;
    source.set({ runId: 'run-a', events: whole, status: 'closed' });
    expect((await reader.restoreState(KEY))?.state).toEqual(applyAll(whole));
    expect(await rows()).toEqual(outline(whole));
  });

  it('sends no query when the store has the close', async () => {
    const { reader, source, store } = await aReader({ withSource: true });
    const whole = [...LOG, ...stamped([closes()], { from: 12 })];
    await store(whole);
    source.set({ runId: 'run-a', events: whole, status: 'closed' });
    source.failing = true;
    expect((await reader.restoreState(KEY))?.state).toEqual(applyAll(whole));
    expect(source.queries).toHaveLength(0);
  });

  it('fails with a retryable error when the store lacks the end and no worker answers', async () => {
    const { reader, source, store } = await aReader({ withSource: true });
    await store(LOG.slice(0, 3));
    source.set({ runId: 'run-a', events: LOG, status: 'closed' });
    source.failing = true;
    await expect(reader.restoreState(KEY)).rejects.toMatchObject({
      name: 'LogIncomplete',
      code: 'no_worker',
    });
  });

  it('takes the log in the store as complete when Temporal does not have the conversation any more', async () => {
    const { reader, store } = await aReader({ withSource: true });
    await store(LOG);
    expect((await reader.restoreState(KEY))?.state).toEqual(applyAll(LOG));
  });

  it('takes the log in the store as complete when the run was ended from outside', async () => {
    const { reader, source, store, rows } = await aReader({ withSource: true });
    await store(LOG.slice(0, 8));
    source.set({ runId: 'run-a', events: LOG, endedBy: 'terminated' });
    const seed = await reader.restoreState(KEY);
    expect(seed?.state).toMatchObject({ closed: true, lastSeq: 9 });
    expect(await rows()).toEqual([...outline(LOG.slice(0, 8)), '9:run_ended']);
  });

  it('finds the conversation of a turn', async () => {
    const { reader, store } = await aReader();
    await store(LOG);
    expect(await reader.findTurn('t2')).toEqual(KEY);
  });
});
