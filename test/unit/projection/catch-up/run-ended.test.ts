import { describe, expect, it } from 'vitest';

import { Projector } from '../../../../src/projection/projector/projector.js';
import { Sweep } from '../../../../src/projection/projector/sweep.js';
import type { EventBody } from '../../../../src/protocol/log/events.js';
import {
  asks,
  KEY,
  outline,
  stamped,
  started,
  suspends,
  turn,
} from '../../../support/samples/log-events.js';
import { aProjection } from '../setup.js';

/** A turn that waits for an approval. */
const LOG = stamped([started(), ...turn('t1'), ...asks('t2'), suspends('t2', 'call-1')]);
const ENDED = { runId: 'run-a', events: LOG, endedBy: 'terminated' } as const;
const REOPENED: EventBody = { ...started(KEY, 'chain1'), reopened: true } as EventBody;
const MARKED = [...outline(LOG), '10:run_ended'];

async function stopped() {
  const projection = await aProjection();
  const { log, live, source, projector, logger } = projection;
  source.set({ runId: 'run-a', events: LOG });
  await projector.flush(KEY, LOG.length);
  /** Another process: nothing known, and the lease does not matter in this test. */
  const sweeper = () => {
    const own = new Projector({ log, live, source, logger });
    const unleased = new Proxy(log, {
      get: (target, name) =>
        name === 'acquireLease'
          ? async () => await Promise.resolve(true)
          : (Reflect.get(target, name) as unknown),
    });
    return new Sweep({ log: unleased, source, projector: own, logger });
  };
  return { ...projection, sweeper };
}

describe('a conversation whose run was ended from outside', () => {
  it.each([
    ['terminated', 'was terminated'],
    ['failed', 'failed'],
    ['timed_out', 'timed out'],
  ] as const)('is shown as closed, with nothing pending: %s', async (endedBy, text) => {
    const { log, source, sweeper, rows, said, listen } = await stopped();
    const heard = listen();
    source.set({ ...ENDED, endedBy });
    expect(await sweeper().pass()).toMatchObject({ checked: 1, endedSilently: 1 });
    expect(await rows()).toEqual(MARKED);
    const head = await log.head(KEY);
    expect(head?.snapshot).toMatchObject({ status: 'closed', pending: [], queued: [] });
    expect(head?.snapshot.turn).toBeUndefined();
    const last = (await log.read(KEY, { afterSeq: 9 }))?.events[0];
    expect(last).toEqual({
      type: 'run_ended',
      seq: 10,
      at: '2030-02-01T00:00:00.000Z',
      runId: 'run-a',
      status: endedBy,
    });
    expect(heard).toEqual([{ type: 'appended', ...KEY, generation: 1, lastSeq: 10 }]);
    expect(said).toEqual([`The workflow of default/c1 ${text}; its log is closed`]);
  });

  it('is closed once, by any number of processes, and is not read again', async () => {
    const { source, sweeper, rows } = await stopped();
    source.set(ENDED);
    const sweepers = [sweeper(), sweeper(), sweeper()];
    await Promise.all(sweepers.map(async (sweep) => await sweep.pass()));
    for (const sweep of sweepers) expect(await sweep.pass()).toMatchObject({ checked: 0 });
    expect(await rows()).toEqual(MARKED);
  });

  it('never shows uncommitted events to any reader', async () => {
    const { source, projector, sweeper, rows } = await stopped();
    const phantoms = stamped(turn('t3'), { from: 10 });
    source.set({ ...ENDED, events: [...LOG, ...phantoms] });
    projector.hint(source.hint());
    await projector.drain();
    await sweeper().pass();
    projector.hint(source.hint());
    await projector.drain();
    expect(await rows()).toEqual(MARKED);
  });

  it('keeps the events of the run before it', async () => {
    const { source, sweeper, rows } = await stopped();
    const all = [...LOG, ...stamped([{ type: 'cancel_requested' } as EventBody], { from: 10 })];
    source.set({ runId: 'run-a', events: all, status: 'closed' });
    source.addRun({ runId: 'run-b', events: [], carriedSeq: 10, endedBy: 'terminated' });
    await sweeper().pass();
    expect(await rows()).toEqual([...outline(all), '11:run_ended']);
  });

  it('is left alone when a newer run is running', async () => {
    const { source, projector, sweeper, rows } = await stopped();
    const continued = stamped([REOPENED, ...asks('t9')], { from: 10 });
    source.set(ENDED);
    source.addRun({ runId: 'run-b', events: continued, carriedSeq: 9 });
    projector.hint(source.hint({ runId: 'run-a', seq: 12 }));
    await projector.drain();
    await sweeper().pass();
    expect(await rows()).toEqual([...outline(LOG), ...outline(continued)]);
  });

  it('is not closed over a newer run that is stored between read and write', async () => {
    const { log, source, sweeper, rows } = await stopped();
    const continued = stamped([REOPENED], { from: 10 });
    const look = source.describe.bind(source);
    source.set(ENDED);
    let reads = 0;
    source.describe = async (key) => {
      const found = await look(key);
      reads += 1;
      // The sweep's own read, then the one right before the marker.
      if (reads === 2) await log.append({ ...KEY, runId: 'run-b', events: continued });
      return found;
    };
    await sweeper().pass();
    expect(await rows()).toEqual([...outline(LOG), ...outline(continued)]);
  });

  it('continues in a new generation when a run begins that does not have the end', async () => {
    const { source, projector, sweeper, rows, log } = await stopped();
    source.set(ENDED);
    await sweeper().pass();
    const continued = stamped([REOPENED, ...asks('t9')], { from: 10 });
    source.addRun({ runId: 'run-b', events: continued, carriedSeq: 9 });
    projector.hint(source.hint());
    await projector.drain();
    expect(await rows()).toEqual(['0:log_rewritten', ...outline(LOG), ...outline(continued)]);
    expect((await log.head(KEY))?.snapshot.status).toBe('streaming');
  });

  it('leaves nothing behind when it never admitted an input', async () => {
    const { source, projector, log } = await aProjection();
    source.set({ runId: 'run-a', events: [], endedBy: 'failed' });
    expect(await projector.catchUp(KEY, { runId: 'run-a' })).toMatchObject({ outcome: 'ended' });
    expect(await log.head(KEY)).toBeUndefined();
  });
});
