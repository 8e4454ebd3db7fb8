import { describe, expect, it, onTestFinished } from 'vitest';
import { ownIdentity, storeIdIn } from '../../../../src/client/workers/identity.js';
import type { WorkerElsewhere } from '../../../../src/client/workers/workers-elsewhere.js';
import { StoreWatch } from '../../../../src/projection/duties/store-watch.js';
import type { HistoryEvent } from '../../../../src/projection/source/history-tail.js';
import { promise } from '../../../support/promise.js';
import { until } from '../../../support/until.js';

const MINE = '0123456789ab';
const THEIRS = 'fedcba987654';

const run = (runId: string) => ({ workflowId: 'conversation:default:c1', runId });

const worker = (storeId: string): WorkerElsewhere => ({
  identity: ownIdentity(storeId),
  storeId,
  lastSeen: '2030-01-01T00:00:00.000Z',
});

function watching() {
  const said: string[] = [];
  const seen: { workers: readonly WorkerElsewhere[] | Error; events: readonly HistoryEvent[] } = {
    workers: [],
    events: [],
  };
  const looked: string[] = [];
  const watch = new StoreWatch({
    storeId: MINE,
    check: async () => {
      if (seen.workers instanceof Error) throw seen.workers;
      return await Promise.resolve(seen.workers);
    },
    newest: async ({ runId }) => {
      looked.push(runId);
      return await Promise.resolve(seen.events);
    },
    checkMs: 20,
    settleMs: 1,
    logger: {
      info: (message) => {
        said.push(`info: ${message}`);
      },
      warn: (message) => {
        said.push(`warn: ${message}`);
      },
    },
  });
  onTestFinished(async () => {
    await watch.stop();
  });
  return { watch, said, seen, looked };
}

function signalled(identity: string, agoMs = 0): HistoryEvent {
  const event = {
    eventTime: { seconds: (Date.now() - agoMs) / 1_000 },
    workflowExecutionSignaledEventAttributes: { identity },
  };
  return event as unknown as HistoryEvent;
}

function updated(identity: string): HistoryEvent {
  const acceptedRequest = { meta: { identity } };
  const event = {
    eventTime: { seconds: Date.now() / 1_000 },
    workflowExecutionUpdateAcceptedEventAttributes: { acceptedRequest },
  };
  return event as unknown as HistoryEvent;
}

describe('the identity of a process', () => {
  it('names its store, and differs between the processes that have it open', () => {
    expect(storeIdIn(ownIdentity(MINE))).toBe(MINE);
    expect(ownIdentity(MINE)).not.toBe(ownIdentity(MINE));
    for (const identity of ['', '17@host', 'mine', `x.${MINE}`, `17@host#0011aabb.${MINE}0`])
      expect(storeIdIn(identity)).toBeUndefined();
  });
});

describe('workers that keep another event log', () => {
  it('are reported once, with the way out, and once more when they are gone', {
    ...promise('G242'),
  }, async () => {
    const { watch, said, seen } = watching();
    await watch.run();
    seen.workers = [worker(THEIRS), worker(THEIRS)];
    await watch.run();
    await watch.run();
    expect(said).toEqual([expect.stringContaining(`another event log (store ${THEIRS})`)]);
    expect(said[0]).toContain('COLLOQUY_DATABASE_URL');
    seen.workers = new Error('Temporal is away');
    await watch.run();
    seen.workers = [];
    await watch.run();
    await watch.run();
    expect(said.slice(1)).toEqual([
      'info: All workers of the task queue keep the event log of this process again',
    ]);
  });

  it('are reported anew when another one comes', async () => {
    const { watch, said, seen } = watching();
    seen.workers = [worker(THEIRS)];
    await watch.run();
    seen.workers = [worker(THEIRS), worker('aaaaaaaaaaaa')];
    await watch.run();
    expect(said).toHaveLength(2);
    expect(said[1]).toContain('aaaaaaaaaaaa');
  });
});

describe('a client that keeps another event log', () => {
  it.each([
    ['a signal', signalled],
    ['an update', updated],
  ])('is reported once, by the input that it sends: %s', promise('G242'), async (_, sent) => {
    const { watch, said, seen, looked } = watching();
    seen.events = [sent(ownIdentity(MINE)), sent('17@host'), sent('')];
    watch.moved(run('a'));
    await until('the run is looked at', () => looked.length === 1);
    expect(said).toEqual([]);
    seen.events = [sent(ownIdentity(THEIRS)), sent(ownIdentity(THEIRS))];
    watch.moved(run('a'));
    await until('it is looked at again', () => looked.length === 2);
    watch.moved(run('b'));
    await until('another one is looked at', () => looked.length === 3);
    expect(said).toEqual([expect.stringContaining(`another event log (store ${THEIRS})`)]);
  });

  it('is not reported for inputs that it sent before it was corrected', async () => {
    const { watch, said, seen, looked } = watching();
    seen.events = [signalled(ownIdentity(THEIRS), 120_000)];
    watch.moved(run('a'));
    await until('the run is looked at', () => looked.length === 1);
    expect(said).toEqual([]);
  });

  it('costs one check at a time, with any number of moving conversations; the last of them is checked', async () => {
    const { watch, looked } = watching();
    watch.moved(run('a'));
    await until('the first is looked at', () => looked.length === 1);
    for (let nth = 0; nth < 1_000; nth += 1) watch.moved(run(`b${nth}`));
    await until('the last is looked at', () => looked.includes('b999'));
    expect(looked).toEqual(['a', 'b999']);
  });
});
