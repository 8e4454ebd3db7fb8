/** The copy with which a fork begins, where stores fail, workers die and origins are deleted in the midst of it. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { copyLog } from '../../../../src/projection/forks/copy-log.js';
import { type ForkRequest, forkState } from '../../../../src/projection/forks/fork-state.js';
import type { EventBody } from '../../../../src/protocol/log/events.js';
import { openSqliteStores } from '../../../../src/store/sqlite/event-log.js';
import { cutsOf } from '../../../support/forks/core-forks.js';
import { promise } from '../../../support/promise.js';
import { KEY, stamped, started, turn } from '../../../support/samples/log-events.js';

const ORIGIN = { tenant: KEY.tenant, conversationId: 'origin-1' };

/** An origin whose messages name one stored value each. */
async function anOrigin(turns: number) {
  const { log, blobs } = await openSqliteStores({ file: ':memory:' });
  onTestFinished(() => log.close());
  const bodies: EventBody[] = [started(ORIGIN)];
  for (let nth = 1; nth <= turns; nth += 1) {
    const content = Buffer.from(`value ${nth}`);
    const blob = await blobs.put(ORIGIN, { type: 'text/plain', content });
    const [asked, ...rest] = turn(`t${nth}`);
    if (asked?.type !== 'user_message') throw new Error('no message');
    bodies.push({ ...asked, parts: [{ type: 'file', source: { blob } }] }, ...rest);
  }
  const events = stamped(bodies);
  await log.append({ ...ORIGIN, runId: 'run-o', events });
  const seq = cutsOf(events).at(-1) ?? 0;
  const [first] = bodies;
  if (first?.type !== 'conversation_started') throw new Error('no start');
  const origin = { conversationId: ORIGIN.conversationId, generation: 1, seq };
  const fork = { origin, settings: first.settings, runId: 'run-f' };
  const request: ForkRequest = { ...KEY, chain: 'chain1', fork };
  const copy = {
    from: { ...ORIGIN, generation: 1 },
    to: { ...KEY, runId: 'run-f' },
    throughSeq: seq,
    chunks: [],
    ends: [],
  };
  return {
    ...{ log, blobs, events, request, copy },
    deleteOrigin: async () => {
      await log.beginDeletion({ ...ORIGIN, runIds: ['run-o'] });
      await blobs.delete(ORIGIN);
    },
  };
}

describe('the log of a fork', promise('G382'), () => {
  it('is taken instead of its origin, which was deleted after the copy was stored', async () => {
    const { log, blobs, request, deleteOrigin } = await anOrigin(2);
    const first = await forkState({ log, blobs }, request);
    const copied = await log.read(KEY);
    await deleteOrigin();
    const second = await forkState({ log, blobs }, request);
    const without = (value: unknown): unknown =>
      JSON.parse(JSON.stringify(value).replaceAll(/"20\d\d-[^"]+"/g, '"<time>"'));
    expect(without(second)).toEqual(without(first));
    expect(await log.read(KEY)).toEqual(copied);
  });

  it('is removed where its origin was deleted before the whole copy was stored', async () => {
    const { log, blobs, events, request, deleteOrigin } = await anOrigin(2);
    await log.append({ ...KEY, runId: 'run-f', events: events.slice(0, 5), copied: true });
    await blobs.put(KEY, { type: 'text/plain', content: Buffer.from('value 1') });
    await deleteOrigin();
    const failed = forkState({ log, blobs }, request);
    await expect(failed).rejects.toMatchObject({ code: 'unknown_conversation', retryable: false });
    expect(await log.head(KEY)).toBeUndefined();
    expect(await blobs.list({ limit: 9 })).toEqual([]);
  });

  it('is left alone where another conversation has the id', async () => {
    const { log, blobs, events, request, deleteOrigin } = await anOrigin(2);
    await log.append({ ...KEY, runId: 'run-x', events: events.slice(0, 5) });
    await deleteOrigin();
    const failed = forkState({ log, blobs }, request);
    await expect(failed).rejects.toMatchObject({ code: 'unknown_conversation' });
    expect(await log.head(KEY)).toMatchObject({ runId: 'run-x', lastSeq: 5 });
  });

  it('is not reported as copied where the store did not take all of it', async () => {
    const { log, blobs, copy, deleteOrigin } = await anOrigin(1);
    const append = () => Promise.resolve({ outcome: 'gap', lastSeq: 0 } as const);
    const read = log.read.bind(log);
    const head = log.head.bind(log);
    const beginDeletion = log.beginDeletion.bind(log);
    const moved = { ...log, append, read, head, beginDeletion };
    const unavailable = { code: 'store_unavailable' };
    await expect(copyLog({ log: moved, blobs }, copy)).rejects.toMatchObject(unavailable);
    await deleteOrigin();
    await expect(copyLog({ log, blobs }, copy)).rejects.toMatchObject(unavailable);
    expect(await log.head(KEY)).toBeUndefined();
  });

  it('gets each stored value once, over all attempts', async () => {
    const { log, blobs, copy } = await anOrigin(300);
    let reads = 0;
    const get: typeof blobs.get = async (key, id, range) => {
      if (key.conversationId !== ORIGIN.conversationId) return await blobs.get(key, id, range);
      reads += 1;
      if (reads === 290) throw new Error('the worker died');
      return await blobs.get(key, id, range);
    };
    const slow = { get, put: blobs.put.bind(blobs), delete: blobs.delete.bind(blobs) };
    await expect(copyLog({ log, blobs: slow }, copy)).rejects.toThrow('the worker died');
    expect(await copyLog({ log, blobs: slow }, copy)).toBe('copied');
    expect(reads).toBe(301);
    expect(await blobs.list({ limit: 999 })).toHaveLength(600);
  });

  it('is copied no further once its attempt is given up', async () => {
    const { log, blobs, copy } = await anOrigin(3);
    const attempt = new AbortController();
    let puts = 0;
    const put: typeof blobs.put = async (key, blob) => {
      puts += 1;
      attempt.abort();
      return await blobs.put(key, blob);
    };
    const given = { get: blobs.get.bind(blobs), put, delete: blobs.delete.bind(blobs) };
    const { signal } = attempt;
    await expect(copyLog({ log, blobs: given, signal }, copy)).rejects.toThrow(/abort/);
    expect(puts).toBe(1);
    expect(await log.head(KEY)).toBeUndefined();
  });
});
