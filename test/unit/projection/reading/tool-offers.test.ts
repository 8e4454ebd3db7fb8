/** Offers of tool calls: what a reader has of the calls that wait, however it reads. */
import { describe, expect, it, onTestFinished } from 'vitest';
import type { OfferFrame, OffersOf } from '../../../../src/client/ports/reader.js';
import { createOfferReader } from '../../../../src/projection/reading/tool-offers.js';
import { Outages } from '../../../../src/projection/source/outages.js';
import type { Suspension } from '../../../../src/protocol/calls/suspensions.js';
import type { EventBody } from '../../../../src/protocol/log/events.js';
import { createLocalLiveChannel } from '../../../../src/store/live/local.js';
import { tenantKey } from '../../../../src/store/ports/live.js';
import { StoreUnavailable } from '../../../../src/store/ports/log.js';
import { openSqliteEventLog } from '../../../support/event-logs.js';
import { breakable } from '../../../support/fakes/breakable-log.js';
import { promise } from '../../../support/promise.js';
import { asks, stamped, started, suspends } from '../../../support/samples/log-events.js';
import { until } from '../../../support/until.js';

const ANN = { id: 'ann', verified: true, channel: 'api' } as const;
const RENDER: OffersOf = {
  tenant: 'default',
  tools: ['render'],
  executors: ['external'],
  actor: ANN,
};

const call = (toolCallId: string) => ({ turnId: 't', toolCallId });
const waits = (toolCallId: string, more: Partial<Suspension> = {}): EventBody =>
  suspends('t', toolCallId, {
    ...{ name: 'render', executor: 'external', kind: 'external_execution' },
    ...{ prompt: { scene: toolCallId }, argsDigest: 'd' },
    ...more,
  });
const claims = (toolCallId: string, claimId: string): EventBody => ({
  type: 'claimed',
  ...call(toolCallId),
  ...{ claimId, leaseMs: 60_000, requestId: claimId, actor: ANN },
});
const loses = (toolCallId: string, claimId: string): EventBody => ({
  type: 'lease_lost',
  ...call(toolCallId),
  ...{ claimId, by: 'ann' },
});
const resolves = (toolCallId: string): EventBody => ({
  type: 'resolution',
  ...call(toolCallId),
  kind: 'external_execution',
  resolution: { type: 'result', value: 1 },
  ...{ requestId: 'r', actor: ANN },
});

/** `hints: false`: every hint is lost. `pollMs`: how long without a hint until the store is read. */
async function anOfferReader({
  hints = true,
  pollMs = hints ? undefined : 50,
}: {
  readonly hints?: boolean;
  readonly pollMs?: number;
} = {}) {
  const outage = breakable(await openSqliteEventLog({ file: ':memory:' }));
  const { log } = outage;
  const live = createLocalLiveChannel();
  let reads = 0;
  let heads = 0;
  const counted = {
    head: async (key: Parameters<typeof log.head>[0]) => {
      heads += 1;
      return await log.head(key);
    },
    unclaimedCalls: async (options: Parameters<typeof log.unclaimedCalls>[0]) => {
      reads += 1;
      return await log.unclaimedCalls(options);
    },
  };
  const said: string[] = [];
  const note = (message: string) => void said.push(message);
  const outages = new Outages({ info: note, warn: note });
  const seqs = new Map<string, number>();
  const store = async (conversationId: string, bodies: readonly EventBody[]) => {
    const key = { tenant: 'default', conversationId };
    const before = seqs.get(conversationId) ?? 0;
    const all = before === 0 ? [started(key), ...asks('t'), ...bodies] : bodies;
    const events = stamped(all, { from: before + 1 });
    const result = await log.append({ ...key, runId: 'r', events });
    if (!('head' in result)) throw new Error(result.outcome);
    seqs.set(conversationId, result.head.lastSeq);
    const { generation, lastSeq } = result.head;
    if (hints) live.publish({ type: 'appended', ...tenantKey('default'), generation, lastSeq });
  };
  const reader = createOfferReader({
    ...{ log: counted, live, outages },
    ...(pollMs === undefined ? {} : { pollMs }),
  });
  const watch = (of: OffersOf = RENDER, after?: string) => {
    const leaving = new AbortController();
    const frames: OfferFrame[] = [];
    const position = after === undefined ? {} : { after };
    const run = async (): Promise<void> => {
      for await (const frame of reader.watchOffers(of, { signal: leaving.signal, ...position }))
        frames.push(frame);
    };
    const done = run();
    const stop = async (): Promise<void> => {
      leaving.abort();
      await done;
    };
    onTestFinished(stop);
    return { frames, stop };
  };
  onTestFinished(() => log.close());
  return { log, outage, reader, store, watch, said, reads: () => reads, heads: () => heads };
}

function outlineOf(frames: readonly OfferFrame[]): readonly string[] {
  return frames.map((frame) => {
    if (frame.type === 'offer') return `offer ${frame.offer.toolCallId} ${frame.offer.attempt}`;
    return frame.type === 'gone' ? `${frame.gone.why} ${frame.gone.toolCallId}` : 'reset';
  });
}

async function shows(frames: readonly OfferFrame[], expected: readonly string[]): Promise<void> {
  await until('frames', () => outlineOf(frames), {
    holds: (seen) => seen.length >= expected.length,
  });
  expect(outlineOf(frames)).toEqual(expected);
}

describe.each([
  ['with hints', true],
  ['when every hint is lost', false],
])('a stream of offers %s', promise('G361'), (_title, hints) => {
  it('has the calls that wait, then new ones, those that others claim or answer, and those that come back', async () => {
    const { store, watch } = await anOfferReader({ hints });
    await store('c1', [waits('a'), waits('other', { name: 'cut' })]);
    const { frames } = watch();
    await shows(frames, ['offer a 1']);
    await store('c2', [waits('b'), waits('mine', { kind: 'client_execution' })]);
    const expected = ['offer a 1', 'offer b 1'];
    await shows(frames, expected);
    await store('c1', [claims('a', 'one')]);
    await shows(frames, (expected.push('claimed a'), expected));
    await store('c2', [resolves('b')]);
    await shows(frames, (expected.push('ended b'), expected));
    await store('c1', [loses('a', 'one')]);
    await shows(frames, (expected.push('offer a 2'), expected));
    const [first] = frames;
    expect(first).toMatchObject({
      offer: {
        ...{ ref: 'default~c1~a', conversationId: 'c1', toolCallId: 'a', agent: 'helper' },
        ...{ tool: 'render', executor: 'external', input: { scene: 'a' }, argsDigest: 'd' },
        deadline: '2030-01-02T00:00:00.000Z',
      },
    });
  });

  it('offers a call again whose claim came and lapsed between two reads', async () => {
    const { store, watch } = await anOfferReader({ hints });
    await store('c1', [waits('a')]);
    const { frames } = watch();
    await shows(frames, ['offer a 1']);
    await store('c1', [claims('a', 'one'), loses('a', 'one')]);
    await shows(frames, ['offer a 1', 'offer a 2']);
  });
});

describe('offers', () => {
  it('leave out calls that a sub-agent runs, and take those for clients and those of an agent on request', async () => {
    const { store, reader } = await anOfferReader();
    await store('c1', [
      waits('a'),
      waits('sub', { childId: 'child-1' }),
      waits('client', { executor: 'client', kind: 'client_execution' }),
    ]);
    const toolCallIds = async (of: Partial<OffersOf> = {}): Promise<readonly string[]> =>
      (await reader.offers({ ...RENDER, ...of }, 9)).offers.map(({ toolCallId }) => toolCallId);
    expect(await toolCallIds()).toEqual(['a']);
    expect(await toolCallIds({ executors: ['client', 'external'] })).toEqual(['a', 'client']);
    expect(await toolCallIds({ agent: 'another' })).toEqual([]);
    expect(await reader.offers({ ...RENDER, executors: ['client', 'external'] }, 1)).toMatchObject({
      offers: [{ toolCallId: 'a' }],
      more: true,
    });
  });

  it('are not repeated after the id of the offers that wait now, and begin anew after another', async () => {
    const { store, watch } = await anOfferReader();
    await store('c1', [waits('a')]);
    await store('c2', [waits('b')]);
    const first = watch();
    await shows(first.frames, ['offer a 1', 'offer b 1']);
    const id = first.frames.at(-1)?.id;
    await first.stop();
    const same = watch(RENDER, id);
    await store('c3', [waits('c')]);
    await shows(same.frames, ['offer c 1']);
    const other = watch(RENDER, id);
    await shows(other.frames, ['reset', 'offer a 1', 'offer b 1', 'offer c 1']);
    expect(other.frames.at(-1)?.id).toBe(same.frames.at(-1)?.id);
    expect(other.frames[0]?.id).toBe('0-0');
  });

  it('come to two hundred readers by one read of the store for each change', async () => {
    const { store, watch, reader, reads, heads } = await anOfferReader();
    await store('c1', [waits('a')]);
    const watchers = Array.from({ length: 200 }, () => watch());
    for (const { frames } of watchers) await shows(frames, ['offer a 1']);
    const { signal } = new AbortController();
    const slow = reader.watchOffers(RENDER, { signal })[Symbol.asyncIterator]();
    await slow.next();
    const before = reads();
    await store('c2', [waits('b')]);
    for (const { frames } of watchers) await shows(frames, ['offer a 1', 'offer b 1']);
    expect(reads() - before).toBeLessThanOrEqual(3);
    await store('c1', [resolves('a')]);
    for (const { frames } of watchers) await shows(frames, ['offer a 1', 'offer b 1', 'ended a']);
    expect((await slow.next()).value).toMatchObject({ type: 'gone', gone: { why: 'ended' } });
    await slow.return?.();
    // Two offers, and why one of them is over.
    expect(heads()).toBe(3);
  });

  it('come at once with a hint, without a poll', async () => {
    const { store, watch } = await anOfferReader({ pollMs: 3_600_000 });
    await store('c1', [waits('a')]);
    const { frames } = watch();
    await shows(frames, ['offer a 1']);
    await store('c2', [waits('b')]);
    await shows(frames, ['offer a 1', 'offer b 1']);
    await store('c1', [resolves('a')]);
    await shows(frames, ['offer a 1', 'offer b 1', 'ended a']);
  });

  it('of a log that was rewritten are made anew, though ids and positions are the same', async () => {
    const { log, store, watch } = await anOfferReader();
    await store('c1', [waits('a')]);
    const first = watch();
    await shows(first.frames, ['offer a 1']);
    const key = { tenant: 'default', conversationId: 'c1' };
    const bodies = [started(key), ...asks('t'), waits('a', { prompt: { scene: 'another' } })];
    const again = { ...key, runId: 'r2', events: stamped(bodies, { clock: 7 }) };
    expect(await log.append(again)).toMatchObject({ outcome: 'rewritten' });
    await shows(first.frames, ['offer a 1', 'offer a 1']);
    expect(first.frames[1]).toMatchObject({ offer: { input: { scene: 'another' } } });
    expect(first.frames[1]?.id).not.toBe(first.frames[0]?.id);
  });

  it('that began and ended while a reader was slow are not kept for it', async () => {
    const { store, reader, watch } = await anOfferReader();
    await store('c1', [waits('a')]);
    const leaving = new AbortController();
    const slow: AsyncIterator<OfferFrame> = reader
      .watchOffers(RENDER, { signal: leaving.signal })
      [Symbol.asyncIterator]();
    const frames: OfferFrame[] = [];
    const next = async (): Promise<void> => {
      const step = await slow.next();
      if (step.done !== true) frames.push(step.value);
    };
    await next();
    for (let round = 1; round <= 20; round += 1) {
      await store(`x${round}`, [waits(`x${round}`)]);
      await store(`x${round}`, [resolves(`x${round}`)]);
    }
    await store('c1', [resolves('a')]);
    await store('c2', [waits('b')]);
    const other = watch();
    await until('another reader has the newest', () => outlineOf(other.frames).at(-1), {
      holds: (last) => last === 'offer b 1',
    });
    await next();
    await next();
    leaving.abort();
    await next();
    expect(outlineOf(frames)).toEqual(['offer a 1', 'ended a', 'offer b 1']);
    await other.stop();
  });

  it('fail when the store does at first, and go on after a later failure', async () => {
    const { outage, store, watch, reader, said } = await anOfferReader();
    await store('c1', [waits('a')]);
    const { frames } = watch();
    await shows(frames, ['offer a 1']);
    outage.isDown = true;
    const failing = reader
      .watchOffers({ ...RENDER, tools: ['cut'] }, { signal: new AbortController().signal })
      [Symbol.asyncIterator]();
    await expect(failing.next()).rejects.toThrow(StoreUnavailable);
    outage.isDown = false;
    await store('c2', [waits('b')]);
    await shows(frames, ['offer a 1', 'offer b 1']);
    expect(said.map((line) => line.includes('again'))).toEqual([false, true]);
  });
});
