/** How the readers of a worklist in one process share its reads. */
import { describe, expect, it, onTestFinished } from 'vitest';
import type { HubDeps } from '../../../../src/projection/worklist/hub.js';
import { Worklists } from '../../../../src/projection/worklist/hubs.js';
import type { Suspension } from '../../../../src/protocol/calls/suspensions.js';
import type { WorklistFrame } from '../../../../src/protocol/log/worklist.js';
import type { EventLog } from '../../../../src/store/ports/log.js';
import { begins, said } from '../../../support/engine/asked-logs.js';
import { openSqliteEventLog } from '../../../support/event-logs.js';
import { promise } from '../../../support/promise.js';
import { keyed, minute, result, waits } from '../../../support/samples/list-events.js';
import { stamped, started } from '../../../support/samples/log-events.js';
import { until } from '../../../support/until.js';

const BY = { tenant: 'default', mine: true, actor: { id: 'bo', verified: false } };

/** @param before Called before each read. */
async function shared(options: Partial<HubDeps> = {}, before: () => void = () => undefined) {
  const log = await openSqliteEventLog({ file: ':memory:' });
  onTestFinished(() => log.close());
  const reads = { waiting: 0, waitingIn: 0, recentHeads: 0 };
  const counting =
    <Given extends unknown[], Read>(
      name: keyof typeof reads,
      read: (...given: Given) => Promise<Read>,
    ) =>
    async (...given: Given): Promise<Read> => {
      reads[name] += 1;
      before();
      return await read(...given);
    };
  const counted: HubDeps['log'] = {
    waiting: counting('waiting', (request: Parameters<EventLog['waiting']>[0]) =>
      log.waiting(request),
    ),
    waitingIn: counting('waitingIn', (tenant: string, ids: readonly string[]) =>
      log.waitingIn(tenant, ids),
    ),
    recentHeads: counting('recentHeads', (of: Parameters<EventLog['recentHeads']>[0]) =>
      log.recentHeads(of),
    ),
  };
  const lists = new Worklists({ log: counted, ...options });
  const leave = new AbortController();
  onTestFinished(() => {
    leave.abort();
  });
  const open = async (by = BY) => {
    const frames = await lists.watch(by, { signal: leave.signal });
    return frames[Symbol.asyncIterator]();
  };
  return { log, reads, open };
}

/** Takes all frames as they come. */
function follow(frames: AsyncIterator<WorklistFrame>) {
  const seen = { refs: new Set<string>(), frames: 0, capped: false };
  const take = async (): Promise<void> => {
    for (let next = await frames.next(); next.done !== true; next = await frames.next()) {
      seen.frames += 1;
      const frame = next.value;
      if (frame.type === 'snapshot') for (const { ref } of frame.items) seen.refs.add(ref);
      if (frame.type === 'item') seen.refs.add(frame.item.ref);
      if (frame.type === 'gone') seen.refs.delete(frame.ref);
      if (frame.type === 'counts') seen.capped = frame.counts.capped === true;
    }
  };
  void take();
  return seen;
}

async function put(log: EventLog, id: string, more: Partial<Suspension> = {}): Promise<void> {
  const call = waits('call-0', { name: 'pay', deadline: minute(10), ...more });
  const bodies = [started(keyed(id)), said('t', 'ann'), begins('t'), call];
  await log.append({ ...keyed(id), runId: 'r', events: stamped(bodies) });
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
    expect(reads.recentHeads).toBeLessThan(10);
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
    const { log, open } = await shared({ readAllMs: 200 });
    await put(log, 'c-1');
    const seen = follow(await open());
    await until('it is listed', () => seen.refs.size === 1);
    await log.beginDeletion({ ...keyed('c-1'), runIds: ['r'] });
    await until('it has gone', () => seen.refs.size === 0);
  });

  it('have the calls that end first where there are too many, and the others as these go', async () => {
    const { log, open } = await shared({ maxCalls: 5 });
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
  });

  it('go on when the store comes back', async () => {
    let refused = 0;
    let isAway = false;
    const { log, open } = await shared({}, () => {
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
  });
});
