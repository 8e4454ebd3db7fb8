import { describe, expect, it, vi } from 'vitest';

import { applyAll } from '../../../../src/core/apply/apply.js';
import { restoreState } from '../../../../src/projection/reading/reopening.js';
import type { RestoreStateInput } from '../../../../src/protocol/workflow/activities.js';
import type { CarriedState } from '../../../../src/protocol/workflow/messaging.js';
import { StoreUnavailable } from '../../../../src/store/ports/log.js';
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

const WANTED = { ...KEY, chain: 'chain-of-the-new-run' };
const AFTER_RUN = { ...WANTED, closedRunId: 'run-a' };

/** The state that the worker restores, from the store and the runs of Temporal. */
async function restored(
  parts: Pick<Awaited<ReturnType<typeof aReader>>, 'log' | 'live' | 'source'>,
  wanted: RestoreStateInput = AFTER_RUN,
): Promise<CarriedState> {
  return await restoreState(parts, wanted);
}

describe('rebuilding a closed conversation', () => {
  it('folds its whole log, over pages and rewrites, into the state to carry', async () => {
    const { store, ...parts } = await aReader();
    await store(LOG);
    await store(OTHER, 'run-b');
    await store(stamped([closes()], { from: 17 }), 'run-b');
    const events = [...LOG.slice(0, 6), ...OTHER, ...stamped([closes()], { from: 17 })];
    expect(await restored(parts, WANTED)).toEqual({
      version: 1,
      state: applyAll(events),
      events: [],
    });
  });

  it('fetches the turns and the close that the store missed in an outage', async () => {
    const { store, rows, ...parts } = await aReader();
    const { source } = parts;
    const whole = [...LOG, ...stamped([closes()], { from: 12 })];
    await store(LOG.slice(0, 3));
    source.pageSize = 4;
    source.set({ runId: 'run-a', events: whole, status: 'closed' });
    // The run that restores the state, and has none yet.
    source.addRun({ runId: 'run-b', events: [], previous: 'run-a' });
    expect((await restored(parts)).state).toEqual(applyAll(whole));
    expect(await rows()).toEqual(outline(whole));
  });

  it('sends no query when the store has the close', async () => {
    const { store, ...parts } = await aReader();
    const { source } = parts;
    const whole = [...LOG, ...stamped([closes()], { from: 12 })];
    await store(whole);
    source.set({ runId: 'run-a', events: whole, status: 'closed' });
    source.failing = true;
    expect((await restored(parts)).state).toEqual(applyAll(whole));
    expect(source.queries).toHaveLength(0);
  });

  it('fails with a retryable error when the store lacks the end and no worker answers', async () => {
    const { store, ...parts } = await aReader();
    const { source } = parts;
    await store(LOG.slice(0, 3));
    source.set({ runId: 'run-a', events: LOG, status: 'closed' });
    source.failing = true;
    await expect(restored(parts)).rejects.toMatchObject({
      name: 'LogIncomplete',
      code: 'no_worker',
    });
  });

  it('fails with the error of the store when that is lost while the end is fetched', async () => {
    const { store, ...parts } = await aReader();
    const { source, log } = parts;
    await store(LOG.slice(0, 3));
    source.set({ runId: 'run-a', events: LOG, status: 'closed' });
    vi.spyOn(log, 'append').mockRejectedValue(new StoreUnavailable('the disk is gone'));
    await expect(restored(parts)).rejects.toMatchObject({ code: 'store_unavailable' });
  });

  it('fails in the same way after a reopening that failed: the run before it may have the end', async () => {
    const { store, rows, ...parts } = await aReader();
    const { source } = parts;
    const whole = [...LOG, ...stamped([closes()], { from: 12 })];
    await store(LOG.slice(0, 3));
    source.set({ runId: 'run-a', events: whole, status: 'closed' });
    source.addRun({ runId: 'run-b', events: [], endedBy: 'failed', previous: 'run-a' });
    source.failing = true;
    const wanted = { ...WANTED, closedRunId: 'run-b' };
    await expect(restored(parts, wanted)).rejects.toMatchObject({ code: 'no_worker' });
    expect(await rows()).toEqual(outline(LOG.slice(0, 3)));
    source.failing = false;
    expect((await restored(parts, wanted)).state).toEqual(applyAll(whole));
  });

  it('fails in the same way when a run before the closed one has the missing events and does not answer', async () => {
    const { store, ...parts } = await aReader();
    const { source } = parts;
    const rolled = stamped([closes()], { from: 12 });
    await store(LOG.slice(0, 3));
    source.set({ runId: 'run-a', events: LOG, status: 'closed' });
    source.addRun({ runId: 'run-b', events: rolled, status: 'closed', previous: 'run-a' });
    source.silent = 'run-a';
    const wanted = { ...WANTED, closedRunId: 'run-b' };
    await expect(restored(parts, wanted)).rejects.toMatchObject({ code: 'no_worker' });
    source.silent = undefined;
    expect((await restored(parts, wanted)).state).toEqual(applyAll([...LOG, ...rolled]));
  });

  it('takes the log in the store as complete when Temporal does not have the conversation any more', async () => {
    const { store, ...parts } = await aReader();
    await store(LOG);
    expect((await restored(parts)).state).toEqual(applyAll(LOG));
    expect((await restored(parts, WANTED)).state).toEqual(applyAll(LOG));
  });

  it('takes the log in the store as complete when the run was ended from outside', async () => {
    const { store, rows, ...parts } = await aReader();
    const { source } = parts;
    await store(LOG.slice(0, 8));
    source.set({ runId: 'run-a', events: LOG, endedBy: 'terminated' });
    source.addRun({ runId: 'run-b', events: [], previous: 'run-a' });
    const { state } = await restored(parts);
    expect(state).toMatchObject({ closed: true, lastSeq: 9 });
    expect(await rows()).toEqual([...outline(LOG.slice(0, 8)), '9:run_ended']);
  });

  it('cannot be done without a log, however often it is tried', async () => {
    await expect(restored(await aReader(), WANTED)).rejects.toMatchObject({
      name: 'NotReopenable',
      code: 'conversation_closed',
      retryable: false,
      message: 'Conversation "c1" cannot be reopened: its log is not in the store',
    });
  });

  it('leaves out what the same run has added to the log before it was reset', async () => {
    const { store, ...parts } = await aReader();
    const closedLog = [...LOG, ...stamped([closes()], { from: 12 })];
    await store(closedLog);
    const again = started(KEY, WANTED.chain);
    await store(stamped([again, ...turn('t3')], { from: 13 }), 'run-b');
    expect((await restored(parts, WANTED)).state).toEqual(applyAll(closedLog));
  });

  it('finds the conversation of a turn', async () => {
    const { reader, store } = await aReader();
    await store(LOG);
    expect(await reader.findTurn('t2')).toEqual(KEY);
  });
});
