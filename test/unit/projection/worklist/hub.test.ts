/** How the readers of a worklist in one process share its reads. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { ChangePoll } from '../../../../src/projection/changes/poll.js';
import { createDeletions } from '../../../../src/projection/duties/deletions.js';
import { Outages } from '../../../../src/projection/source/outages.js';
import type { HubDeps } from '../../../../src/projection/worklist/hub.js';
import { Worklists } from '../../../../src/projection/worklist/hubs.js';
import type { Suspension } from '../../../../src/protocol/calls/suspensions.js';
import type { WorklistFrame } from '../../../../src/protocol/log/worklist.js';
import { createLocalLiveChannel } from '../../../../src/store/live/local.js';
import { tenantKey } from '../../../../src/store/ports/live.js';
import type { EventLog } from '../../../../src/store/ports/log.js';
import { begins, said } from '../../../support/engine/asked-logs.js';
import { openSqliteEventLog } from '../../../support/event-logs.js';
import { promise } from '../../../support/promise.js';
import { keyed, minute, result, waits } from '../../../support/samples/list-events.js';
import { stamped, started } from '../../../support/samples/log-events.js';
import { until } from '../../../support/until.js';

/** An hour: longer than a test. */
const NEVER_MS = 3_600_000;
const BY = { tenant: 'default', mine: true, actor: { id: 'bo', verified: false } };

/** @param before Called before each read. */
async function shared(
  options: Partial<HubDeps> = {},
  before: (read: 'waiting' | 'waitingIn' | 'changes') => void = () => undefined,
) {
  const log = await openSqliteEventLog({ file: ':memory:' });
  onTestFinished(() => log.close());
  const reads = { waiting: 0, waitingIn: 0, changes: 0 };
  const counting =
    <Given extends unknown[], Read>(
      name: keyof typeof reads,
      read: (...given: Given) => Promise<Read>,
    ) =>
    async (...given: Given): Promise<Read> => {
      reads[name] += 1;
      before(name);
      return await read(...given);
    };
  const counted: Pick<EventLog, 'waiting' | 'waitingIn' | 'changes'> = {
    waiting: counting('waiting', (request: Parameters<EventLog['waiting']>[0]) =>
      log.waiting(request),
    ),
    waitingIn: counting('waitingIn', (tenant: string, ids: readonly string[]) =>
      log.waitingIn(tenant, ids),
    ),
    changes: counting('changes', (of: Parameters<EventLog['changes']>[0]) => log.changes(of)),
  };
  const said: string[] = [];
  const note = (message: string) => void said.push(message);
  const outages = new Outages({ info: note, warn: note });
  const lists = new Worklists({
    ...{ log: counted, poll: new ChangePoll(counted, outages, 50), outages },
    ...options,
  });
  const leave = new AbortController();
  onTestFinished(() => {
    leave.abort();
  });
  const open = async (by = BY) => {
    const frames = await lists.watch(by, { signal: leave.signal });
    return frames[Symbol.asyncIterator]();
  };
  return { log, reads, open, said };
}

/** Takes all frames as they come. */
function follow(frames: AsyncIterator<WorklistFrame>) {
  const gone: string[] = [];
  const seen = { refs: new Set<string>(), gone, counts: 0, capped: false };
  const take = async (): Promise<void> => {
    for (let next = await frames.next(); next.done !== true; next = await frames.next()) {
      const frame = next.value;
      if (frame.type === 'snapshot') for (const { ref } of frame.items) seen.refs.add(ref);
      if (frame.type === 'item') seen.refs.add(frame.item.ref);
      if (frame.type === 'gone') {
        seen.refs.delete(frame.ref);
        gone.push(frame.ref);
      }
      if (frame.type !== 'counts') continue;
      seen.counts += 1;
      seen.capped = frame.counts.capped === true;
    }
  };
  void take();
  return seen;
}

async function put(
  log: EventLog,
  id: string,
  { tenant, ...more }: Partial<Suspension> & { readonly tenant?: string } = {},
): Promise<void> {
  const key = keyed(id, tenant);
  const call = waits('call-0', { name: 'pay', deadline: minute(10), ...more });
  const bodies = [started(key), said('t', 'ann'), begins('t'), call];
  await log.append({ ...key, runId: 'r', events: stamped(bodies) });
}

async function end(log: EventLog, id: string): Promise<void> {
  const from = ((await log.head(keyed(id)))?.lastSeq ?? 0) + 1;
  const events = stamped([result('call-0')], { from });
  await log.append({ ...keyed(id), runId: 'r', events });
}

describe('readers of one worklist', () => {
  it('cost as many reads of the store as one reader', promise('G353'), async () => {
    const { log, reads, open } = await shared();
    await put(log, 'c-1');
    const readers = await Promise.all(Array.from({ length: 100 }, () => open()));
    const seen = readers.map(follow);
    expect(reads.waiting).toBe(1);
    await put(log, 'c-2');
    await until('all have the new call', () => seen.every(({ refs }) => refs.size === 2));
    expect([reads.waiting, reads.waitingIn]).toEqual([1, expect.toBeOneOf([1, 2])]);
    expect(reads.changes).toBeLessThan(10);
  });

  it('of many tenants share one poll of the store', async () => {
    const { log, reads, open } = await shared();
    const tenants = Array.from({ length: 50 }, (_, index) => `t-${index}`);
    const lists = await Promise.all(tenants.map((tenant) => open({ ...BY, tenant })));
    const seen = lists.map(follow);
    await until('a poll', () => reads.changes > 0);
    for (const tenant of tenants) await put(log, 'c-1', { tenant });
    await until('each has its call', () => seen.every(({ refs }) => refs.size === 1));
    expect(reads.changes).toBeLessThan(20);
    expect(seen[7]?.refs).toEqual(new Set(['t-7~c-1~call-0']));
  });

  it('see a change by its hint, without a poll', async () => {
    const live = createLocalLiveChannel();
    const { log, open } = await shared({ live, readAllMs: NEVER_MS }, (read) => {
      if (read === 'changes') throw new Error('polls fail');
    });
    const seen = follow(await open());
    const hint = (moved: string) => {
      live.publish({ type: 'appended', ...tenantKey('default'), generation: 1, lastSeq: 1, moved });
    };
    await put(log, 'c-1');
    hint('c-1');
    await until('it is listed', () => seen.refs.size === 1);
    await end(log, 'c-1');
    hint('c-1');
    await until('it has gone', () => seen.refs.size === 0);
  });

  it('lose calls that end while a long list is being sent', async () => {
    const { log, open } = await shared();
    const ids = Array.from({ length: 150 }, (_, index) => `c-${1_000 + index}`);
    for (const [index, id] of ids.entries()) await put(log, id, { deadline: minute(index) });
    const slow = await open();
    const first = (await slow.next()).value as WorklistFrame;
    expect(first).toMatchObject({ type: 'snapshot', first: true, last: false });
    const other = follow(await open());
    await until('another reader has all', () => other.refs.size === 150);
    // One of the part that was sent, one of the part that was not.
    for (const id of ['c-1003', 'c-1120']) await end(log, id);
    await until('the other reader has lost them', () => other.refs.size === 148);
    const seen = follow(slow);
    await until('the slow one has come to the end', () => seen.counts > 1);
    const sent = first.type === 'snapshot' ? first.items.map(({ ref }) => ref) : [];
    const left = new Set([...sent, ...seen.refs].filter((ref) => !seen.gone.includes(ref)));
    expect(left).toEqual(other.refs);
  });

  it('get the last state of a call, however many they did not take', async () => {
    const { log, open } = await shared();
    const slow = await open();
    expect((await slow.next()).value).toMatchObject({ type: 'snapshot', items: [] });
    expect((await slow.next()).value).toMatchObject({ type: 'counts', counts: { total: 0 } });
    const fast = follow(await open());
    const next = slow.next();
    await put(log, 'c-0');
    await until('it has come', () => fast.refs.size === 1);
    expect((await next).value).toMatchObject({ type: 'item' });
    for (const id of ['c-1', 'c-2', 'c-3']) await put(log, id);
    await until('all have come', () => fast.refs.size === 4);
    for (const id of ['c-1', 'c-2']) await end(log, id);
    await until('two have gone', () => fast.refs.size === 2);
    const left = [(await slow.next()).value, (await slow.next()).value] as WorklistFrame[];
    expect(left).toMatchObject([
      { type: 'item', item: { conversationId: 'c-3' } },
      { type: 'counts', counts: { total: 2 } },
    ]);
  });

  it('see calls of conversations that were deleted go, without a hint', async () => {
    const { log, open } = await shared({ readAllMs: NEVER_MS });
    await put(log, 'c-1');
    const seen = follow(await open());
    await until('it is listed', () => seen.refs.size === 1);
    await log.beginDeletion({ ...keyed('c-1'), runIds: ['r'] });
    await until('it has gone', () => seen.refs.size === 0);
  });

  it('see them go at once by the hint of the deletion', async () => {
    const live = createLocalLiveChannel();
    const { log, open } = await shared({ live, readAllMs: NEVER_MS });
    await put(log, 'c-1');
    const seen = follow(await open());
    await until('it is listed', () => seen.refs.size === 1);
    const deletions = createDeletions({ log, live });
    await deletions.begin({ ...keyed('c-1'), runIds: ['r'] });
    await until('it has gone', () => seen.refs.size === 0);
  });

  it('have the calls that end first where there are too many, and the others as these go', async () => {
    const { log, reads, open } = await shared({ maxCalls: 5 });
    for (const n of [7, 6, 5, 4]) await put(log, `c-${n}`, { deadline: minute(n) });
    const seen = follow(await open());
    await until('four', () => seen.refs.size === 4);
    expect(seen.capped).toBe(false);
    for (const n of [3, 2, 1]) await put(log, `c-${n}`, { deadline: minute(n) });
    const first = (...ids: number[]) => ids.map((n) => `default~c-${n}~call-0`);
    const has = (...ids: number[]) => first(...ids).every((ref) => seen.refs.has(ref));
    await until('the first five', () => seen.refs.size === 5 && has(1, 2, 3, 4, 5));
    await until('it says so', () => seen.capped);
    await end(log, 'c-1');
    await until('the sixth', () => seen.refs.size === 5 && has(2, 3, 4, 5, 6));
    await end(log, 'c-2');
    await until('all others', () => seen.refs.size === 5 && has(3, 4, 5, 6, 7) && !seen.capped);
    // Not by the read of all calls that comes each half minute.
    expect(reads.changes).toBeLessThan(20);
  });

  it('go on when the store comes back', async () => {
    let refused = 0;
    let isAway = false;
    const { log, open, said } = await shared({}, () => {
      if (!isAway) return;
      refused += 1;
      throw new Error('the store is away');
    });
    const seen = follow(await open());
    isAway = true;
    await put(log, 'c-1');
    await until('some reads have failed', () => refused > 2);
    isAway = false;
    await until('it is listed', () => seen.refs.size === 1);
    expect(said).toEqual([
      'Waiting calls and conversations cannot be read from the event log; readers of worklists, offers and lists keep what they have',
      'Waiting calls and conversations can be read from the event log again',
    ]);
  });
});
