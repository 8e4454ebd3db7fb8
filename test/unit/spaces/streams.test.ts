/** Streams of spaces, over a store in memory: what readers get while messages are stored, members leave and the store is away. */
import { expect, it, onTestFinished } from 'vitest';
import { agentMemberId, type SpaceFrame } from '../../../src/protocol/spaces/spaces.js';
import { type SpaceCaller, Spaces, type SpacesDeps } from '../../../src/spaces/service.js';
import { createLocalLiveChannel } from '../../../src/store/live/local.js';
import { StoreUnavailable } from '../../../src/store/ports/log.js';
import type { SpaceStore } from '../../../src/store/ports/spaces/spaces.js';
import { openSqliteStores } from '../../../src/store/sqlite/event-log.js';
import { Dice } from '../../support/dice.js';
import { promise } from '../../support/promise.js';
import { until } from '../../support/until.js';

const ANN: SpaceCaller = { tenant: 'default', member: { kind: 'person', id: 'ann', name: 'Ann' } };
const BOB: SpaceCaller = { tenant: 'default', member: { kind: 'person', id: 'bob' } };

/** A store whose reads are counted, and fail while `isAway`. */
function watched(store: SpaceStore) {
  const reads: string[] = [];
  const state: { isAway: boolean; beforeChanges?: () => Promise<unknown> } = { isAway: false };
  const proxy = new Proxy(store, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      return async (...given: unknown[]): Promise<unknown> => {
        reads.push(String(name));
        if (state.isAway) throw new StoreUnavailable('away');
        if (name === 'changes') await state.beforeChanges?.();
        return await (Reflect.apply(member, target, given) as Promise<unknown>);
      };
    },
  });
  return { store: proxy, reads, state };
}

async function room(more: Partial<SpacesDeps> = {}) {
  const { spaces: inner, log } = await openSqliteStores({ file: ':memory:' });
  onTestFinished(() => log.close());
  const { store, reads, state } = watched(inner);
  const live = createLocalLiveChannel();
  const spaces = new Spaces({ store, live, ...more });
  const { id } = await spaces.create(ANN, { name: 'Room' });
  await spaces.join(ANN, id, BOB.member);
  let sent = 0;
  const send = async (text = 'Hi') => {
    sent += 1;
    return await spaces.send(ANN, id, { text, requestId: `r${sent}` });
  };
  const ends: AbortController[] = [];
  onTestFinished(() => {
    for (const end of ends) end.abort();
  });
  /** A reader that takes frames as they come; `frames` grows. */
  const follow = async (after?: number, caller = BOB) => {
    const end = new AbortController();
    ends.push(end);
    const frames: SpaceFrame[] = [];
    const stream = await spaces.watch(caller, id, { after, signal: end.signal });
    const over = (async () => {
      for await (const frame of stream) frames.push(frame);
    })();
    return { frames, over, end };
  };
  return { spaces, inner, log, store, reads, state, id, send, follow, live };
}

const changesOf = (frames: readonly SpaceFrame[]): readonly number[] =>
  frames.flatMap((frame) => (frame.type === 'message' ? [frame.change] : []));

it(
  'begins at the place of the reader, and has the place of each message',
  promise('G368', '2.H.4'),
  async () => {
    const { send, follow, spaces, id } = await room();
    for (let n = 0; n < 45; n += 1) await send();
    const now = await follow();
    const behind = await follow(3);
    await until('the one behind has all', () => behind.frames.length === 42);
    expect(now.frames).toEqual([{ type: 'ready', change: 45 }]);
    expect(changesOf(behind.frames)).toEqual(Array.from({ length: 42 }, (_each, n) => n + 4));
    const { lastChange } = await spaces.messages(BOB, id, { limit: 1 });
    expect(lastChange).toBe(45);
    await send('last');
    await until('both have it', () => now.frames.length === 2 && behind.frames.length === 43);
    expect(now.frames[1]).toMatchObject({ change: 46, message: { text: 'last', position: 46 } });
  },
);

it('brings each change of a call, with the same id', promise('G368'), async () => {
  const { spaces, id, follow } = await room();
  const { frames } = await follow(0);
  const statuses = ['running', 'requires_action', 'complete'] as const;
  for (const [index, status] of statuses.entries()) {
    await spaces.show(ANN, id, { requestId: 'call', status, metadata: { toolName: 'refund' } });
    await until(`it is ${status}`, () => frames.length === index + 1);
  }
  const messages = frames.map((frame) => (frame.type === 'message' ? frame.message : undefined));
  expect(messages.map((message) => message?.status)).toEqual(statuses);
  expect(new Set(messages.map((message) => message?.id)).size).toBe(1);
  expect(changesOf(frames)).toEqual([1, 2, 3]);
});

it('any number of readers share one read of each change', promise('G368'), async () => {
  const { send, follow, reads } = await room({ pollMs: 60_000 });
  const readers = await Promise.all(Array.from({ length: 50 }, () => follow()));
  await until('all are ready', () => readers.every(({ frames }) => frames.length === 1));
  reads.length = 0;
  for (let n = 1; n <= 5; n += 1) {
    await send();
    await until('all have it', () => readers.every(({ frames }) => frames.length === 1 + n));
  }
  const count = (name: string) => reads.filter((read) => read === name).length;
  expect(count('changes')).toBe(5);
  expect(count('heads')).toBe(5);
  expect(count('members')).toBe(0);
});

it(
  'a poll finds changes without a hint; a store that is away is waited for',
  promise('G368'),
  async () => {
    const { send, follow, state } = await room({ live: undefined, pollMs: 20 });
    const { frames } = await follow();
    await until('it is ready', () => frames.length === 1);
    await send();
    await until('the first came', () => frames.length === 2);
    await send();
    state.isAway = true;
    await new Promise((resolve) => {
      setTimeout(resolve, 50);
    });
    state.isAway = false;
    await send();
    await until('both came', () => frames.length === 4);
    expect(changesOf(frames)).toEqual([1, 2, 3]);
  },
);

it(
  'misses nothing under random writers and readers that come and go',
  promise('G368'),
  async () => {
    const dice = new Dice(7);
    const { spaces, id, send, follow, inner } = await room({ pollMs: 30 });
    const places = [0, 0, 0];
    const seen = places.map(() => new Map<number, string>());
    for (let round = 0; round < 12; round += 1) {
      const readers = await Promise.all(places.map((place) => follow(place)));
      for (let n = dice.below(30); n >= 0; n -= 1) {
        if (dice.oneIn(3)) {
          const status = dice.pick(['running', 'requires_action'] as const);
          const requestId = `call-${dice.below(5)}`;
          await spaces.show(ANN, id, { requestId, status, metadata: { n, round } });
        } else await send();
        if (dice.oneIn(5)) await new Promise((resolve) => setImmediate(resolve));
      }
      const { lastChange = 0 } = (await inner.space({ tenant: 'default', spaceId: id })) ?? {};
      for (const [index, { frames, end, over }] of readers.entries()) {
        // One is cut off early and comes back; the others wait for all.
        if (index > 0 || round === 11)
          await until('it has the last change', () => changesOf(frames).at(-1) === lastChange);
        end.abort();
        await over;
        expect(frames.filter(({ type }) => type === 'reset')).toEqual([]);
        for (const frame of frames)
          if (frame.type === 'message') seen[index]?.set(frame.change, frame.message.id);
        places[index] = changesOf(frames).at(-1) ?? places[index] ?? 0;
      }
    }
    const all = await inner.changes({ tenant: 'default', spaceId: id }, { after: 0, limit: 1_000 });
    for (const changes of seen)
      for (const { change, id: messageId } of all) expect(changes.get(change)).toBe(messageId);
  },
);

it('ends for a member that leaves, at once, and not for others', promise('G365'), async () => {
  const { spaces, id, follow, send } = await room({ pollMs: 60_000 });
  const [bob, ann] = [await follow(0), await follow(0, ANN)];
  await until('both read', () => bob.frames.length + ann.frames.length === 0);
  await spaces.leave(BOB, id, BOB.member);
  await bob.over;
  expect(bob.frames).toEqual([{ type: 'deleted' }]);
  await send();
  await until('the other goes on', () => changesOf(ann.frames).length === 1);
  expect(ann.frames[0]).toEqual({ type: 'members' });
  await spaces.remove(ANN, id);
  await ann.over;
  expect(ann.frames.at(-1)).toEqual({ type: 'deleted' });
});

it('brings that an agent is gone whose conversation was deleted', async () => {
  const { spaces, id, log, follow } = await room({ pollMs: 20 });
  const bot = {
    kind: 'agent',
    id: agentMemberId({ conversationId: 'c-1', agent: 'bot' }),
  } as const;
  await spaces.join(ANN, id, bot);
  const { frames } = await follow();
  await until('it is ready', () => frames.length === 1);
  await log.beginDeletion({ tenant: 'default', conversationId: 'c-1', runIds: [] });
  await until('the members have changed', () => frames.length === 2);
  expect(frames[1]).toEqual({ type: 'members' });
  expect(await spaces.members(ANN, id)).toHaveLength(2);
});

it('is begun again by a reader that has seen more than a restored store has', async () => {
  const { send, follow } = await room();
  await send();
  const { frames } = await follow(99);
  await send();
  await until('it goes on', () => frames.length === 2);
  expect(frames[0]).toEqual({ type: 'reset', change: 1 });
  expect(changesOf(frames)).toEqual([2]);
});

it('is not reset when the reader has seen more than the hub has heard of', async () => {
  const { spaces, id, send, follow, inner } = await room({ live: undefined, pollMs: 60_000 });
  const first = await follow();
  await send();
  const { lastChange } = await spaces.messages(BOB, id, { limit: 1 });
  const { frames } = await follow(lastChange);
  expect(lastChange).toBe(1);
  await until('the first has it by the read of the second', () => first.frames.length === 2);
  expect(frames).toEqual([]);
  expect(await inner.heads([])).toEqual([]);
});

it('is not reset when a page has more than the hub has heard of', promise('G368'), async () => {
  const { send, follow, state } = await room({ live: undefined, pollMs: 60_000 });
  await send();
  state.beforeChanges = async () => {
    delete state.beforeChanges;
    await send();
  };
  const { frames } = await follow(0);
  await until('both texts', () => frames.length >= 2);
  await new Promise((resolve) => setImmediate(resolve));
  expect(frames.map(({ type }) => type)).toEqual(['message', 'message']);
  expect(changesOf(frames)).toEqual([1, 2]);
});

it('is refused while the store is away, and for strangers', promise('G365'), async () => {
  const { follow, state } = await room();
  const eve = { ...BOB, member: { kind: 'person', id: 'eve' } } as const;
  await expect(follow(0, eve)).rejects.toMatchObject({ code: 'unknown_space' });
  await expect(follow(0, { ...ANN, tenant: 'other' })).rejects.toMatchObject({
    code: 'unknown_space',
  });
  state.isAway = true;
  await expect(follow(0)).rejects.toThrow(StoreUnavailable);
});
