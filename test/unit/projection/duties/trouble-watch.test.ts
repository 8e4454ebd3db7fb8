import { describe, expect, it } from 'vitest';
import { TroubleWatch } from '../../../../src/projection/duties/trouble-watch.js';
import { Sweep } from '../../../../src/projection/projector/sweep.js';
import type { Trouble } from '../../../../src/protocol/values/trouble.js';
import { FAILING } from '../../../support/conformance/troubles.js';
import { promise } from '../../../support/promise.js';
import { KEY, stamped, started, turn } from '../../../support/samples/log-events.js';
import { until } from '../../../support/until.js';
import { aProjection, aSilentServer } from '../setup.js';

const LOG = stamped([started(), ...turn('t1')]);

async function aWatch(intervalMs = 30_000) {
  const { log, source, projector, logger } = await aProjection();
  const lines: string[] = [];
  const note = (message: string) => void lines.push(message);
  const counts: object[] = [];
  const watch = new TroubleWatch({
    log,
    logger: { info: note, warn: note },
    count: (found) => void counts.push(found),
  });
  const sweep = new Sweep({ log, source, projector, logger, troubles: watch, intervalMs });
  source.set({ runId: 'run-a', events: LOG });
  return { log, source, watch, sweep, lines, counts };
}

describe('marks of trouble', () => {
  it('are made by the sweep, counted, logged once, and cleared when tasks are completed again', {
    ...promise('G20'),
  }, async () => {
    const { log, source, sweep, lines, counts } = await aWatch();
    await sweep.pass();
    const describe = source.describe.bind(source);
    let trouble: Trouble | undefined = FAILING;
    source.describe = async (key) => {
      const found = await describe(key);
      return found === undefined ? found : { ...found, ...(trouble && { trouble }) };
    };
    await sweep.pass();
    trouble = { ...FAILING, attempts: 9 };
    await sweep.pass();
    expect(lines).toEqual([
      'The workflow of default/c1 fails: 4 attempts since 2030-01-01T00:00:00.000Z: boom. Next: npx colloquy doctor',
    ]);
    expect((await log.trouble(KEY))?.attempts).toBe(9);
    trouble = undefined;
    await sweep.pass();
    expect(lines[1]).toBe('The workflow of default/c1 completes its tasks again');
    expect(await log.trouble(KEY)).toBeUndefined();
    expect(counts).toEqual([
      { failing: 0, slow: 0 },
      { failing: 1, slow: 0 },
      { failing: 1, slow: 0 },
      { failing: 0, slow: 0 },
    ]);
  });

  it('beyond those of one recheck are checked and counted by the next', {
    ...promise('G20'),
  }, async () => {
    const marks = Array.from({ length: 301 }, (_, number) => ({
      ...KEY,
      conversationId: `c-${1_000 + number}`,
      trouble: FAILING,
    }));
    const cleared: string[] = [];
    const counts: object[] = [];
    const watch = new TroubleWatch({
      log: {
        troubles: ({ limit, after }) => {
          const begin = marks.findIndex(
            ({ conversationId }) => conversationId > (after?.conversationId ?? ''),
          );
          return Promise.resolve(begin < 0 ? [] : marks.slice(begin, begin + limit));
        },
        trouble: () => Promise.resolve(undefined),
        markTrouble: () => Promise.resolve(true),
        clearTrouble: ({ conversationId }) => {
          cleared.push(conversationId);
          return Promise.resolve(true);
        },
      },
      count: (found) => void counts.push(found),
    });
    const describe = ({ conversationId }: { readonly conversationId: string }) =>
      Promise.resolve(conversationId === 'c-1300' ? undefined : FAILING);
    await watch.recheck({ describe });
    expect({ cleared, counts }).toEqual({ cleared: [], counts: [] });
    await watch.recheck({ describe });
    expect({ cleared, counts }).toEqual({
      cleared: ['c-1300'],
      counts: [{ failing: 300, slow: 0 }],
    });
    await watch.recheck({ describe });
    await watch.recheck({ describe });
    expect(counts).toHaveLength(2);
  });

  it('are logged by each process that finds the trouble, although the mark is shared', {
    ...promise('G20'),
  }, async () => {
    const { log, watch, lines } = await aWatch();
    await watch.found(KEY, FAILING);
    const ofApi: string[] = [];
    const note = (message: string) => void ofApi.push(message);
    const api = new TroubleWatch({ log, logger: { info: note, warn: note } });
    await api.found(KEY, { ...FAILING, attempts: 5 });
    await api.found(KEY, { ...FAILING, attempts: 6 });
    await api.found(KEY, { ...FAILING, error: 'another bug' });
    expect(lines).toHaveLength(1);
    expect(ofApi).toEqual([
      expect.stringContaining('fails: 5 attempts') as string,
      expect.stringContaining('another bug') as string,
    ]);
  });

  it("are made of the server's reports, although no check was due", async () => {
    const { log, source, sweep, lines } = await aWatch();
    const other = { ...KEY, conversationId: 'never-stored' };
    const reported = { runId: 'r', historyLength: 1, status: 'running' as const };
    Object.assign(source, {
      describe: () => Promise.resolve({ ...reported, trouble: { ...FAILING, kind: 'slow' } }),
      async *reported() {
        yield await Promise.resolve(other);
      },
      running: undefined,
    });
    await sweep.pass();
    expect(lines).toEqual([
      'The workflow of default/never-stored is slow: 4 attempts at a task timed out since 2030-01-01T00:00:00.000Z',
    ]);
    expect(await log.trouble(other)).toMatchObject({ kind: 'slow' });
  });

  it('are not made of three failed attempts, which pass with a deploy, nor cleared when the server does not answer', async () => {
    const { log, watch } = await aWatch();
    await watch.found(KEY, { ...FAILING, attempts: 3 });
    expect(await log.trouble(KEY)).toBeUndefined();
    await watch.found(KEY, FAILING);
    await watch.recheck({ describe: () => Promise.reject(new Error('away')) });
    expect(await log.trouble(KEY)).toEqual(FAILING);
  });

  it('stay while few attempts are counted, as after a signal, and nothing was completed', {
    ...promise('G20'),
  }, async () => {
    const { log, watch, lines } = await aWatch();
    await watch.found(KEY, FAILING);
    await watch.recheck({ describe: () => Promise.resolve({ ...FAILING, attempts: 1 }) });
    expect(await log.trouble(KEY)).toEqual(FAILING);
    expect(lines).toHaveLength(1);
  });

  it('are checked eight at a time, and no more of them once the sweep stops', async () => {
    const { log, source, sweep, counts } = await aWatch(60);
    source.runs.clear();
    for (let nth = 0; nth < 20; nth += 1)
      await log.markTrouble({ ...KEY, conversationId: `c${nth}` }, FAILING);
    const server = aSilentServer();
    source.describe = server.request;
    sweep.start();
    await until('checks are under way', () => server.count() === 8);
    const stopped = sweep.stop();
    server.pass();
    await stopped;
    expect(server.count()).toBe(8);
    // A part of them is no number of conversations.
    expect(counts).toEqual([]);
  });
});
