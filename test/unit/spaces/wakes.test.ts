/** Agents of spaces are woken for texts, also where processes and deliveries fail. Over a store in memory, without Temporal. */
import { expect, it, onTestFinished } from 'vitest';
import { ConversationError } from '../../../src/client/api/errors.js';
import { inboxFieldProblems } from '../../../src/protocol/conversation/inbox.js';
import type { FailureCode } from '../../../src/protocol/failures/failures.js';
import { MAX_SPACE_TEXT_BYTES } from '../../../src/protocol/limits/service-limits.js';
import { agentMemberId } from '../../../src/protocol/spaces/spaces.js';
import { type SpaceCaller, Spaces } from '../../../src/spaces/service.js';
import { type DeliverText, SpaceWaker, spaceEventOf } from '../../../src/spaces/wakes.js';
import { openSqliteStores } from '../../../src/store/sqlite/event-log.js';
import { Dice } from '../../support/dice.js';
import { promise } from '../../support/promise.js';
import { until } from '../../support/until.js';

const ANN: SpaceCaller = { tenant: 'default', member: { kind: 'person', id: 'ann', name: 'Ann' } };
const idOf = (conversationId: string): string => agentMemberId({ conversationId, agent: 'bot' });
const agentAs = (conversationId: string): SpaceCaller => ({
  tenant: 'default',
  member: { kind: 'agent', id: idOf(conversationId) },
});

async function room(agents: readonly string[] = ['c-1', 'c-2']) {
  const { spaces: store, log } = await openSqliteStores({ file: ':memory:' });
  onTestFinished(() => log.close());
  const clock = { nowMs: 1_000 };
  const now = (): number => clock.nowMs;
  const spaces = new Spaces({ store, now });
  const { id } = await spaces.create(ANN, { name: 'Room' });
  for (const conversationId of agents) await spaces.join(ANN, id, agentAs(conversationId).member);
  /** Texts by conversation, each once: as an inbox has them. */
  const inboxes = new Map<string, string[]>();
  const sent: string[] = [];
  const take: DeliverText = async (wake, text) => {
    const { eventId } = spaceEventOf(wake, text);
    sent.push(eventId);
    const inbox = inboxes.get(wake.conversationId) ?? [];
    if (!inbox.includes(text.text)) inboxes.set(wake.conversationId, [...inbox, text.text]);
  };
  const warned: unknown[] = [];
  const logger = { info: () => undefined, warn: (...line: unknown[]) => void warned.push(line) };
  const waker = (deliver: DeliverText = take) =>
    new SpaceWaker({ store, deliver, logger, now, random: () => 0.5, intervalMs: 5 });
  const send = async (text: string, caller = ANN) => await spaces.send(caller, id, { text });
  return { store, log, spaces, id, clock, inboxes, sent, warned, take, waker, send };
}

it(
  'every other agent gets each text once, in order; calls wake none',
  promise('G367', 'H51', '2.H.3'),
  async () => {
    const { spaces, id, waker, send, inboxes } = await room();
    await send('one');
    await send('two', agentAs('c-1'));
    await spaces.show(agentAs('c-1'), id, { requestId: 'call', status: 'complete' });
    for (let n = 0; n < 45; n += 1) await send(`m${n}`);
    expect(await waker().pass()).toBe(2 * 46 + 1);
    const rest = Array.from({ length: 45 }, (_each, n) => `m${n}`);
    expect(inboxes.get('c-1')).toEqual(['one', ...rest]);
    expect(inboxes.get('c-2')).toEqual(['one', 'two', ...rest]);
    expect(await waker().pass()).toBe(0);
  },
);

it(
  'a process that dies between two texts leaves them to the next one',
  promise('G367'),
  async () => {
    const { waker, send, inboxes, take, clock, sent } = await room(['c-1']);
    for (const text of ['one', 'two', 'three']) await send(text);
    let isDead = false;
    // Hangs for ever, as the process that died.
    void waker(async (wake, text) => {
      await take(wake, text);
      if (text.text === 'two') {
        isDead = true;
        await new Promise(() => undefined);
      }
    }).pass();
    await until('the second is delivered', () => isDead);
    expect(await waker().pass()).toBe(0);
    clock.nowMs += 20_000;
    expect(await waker().pass()).toBe(3);
    expect(inboxes.get('c-1')).toEqual(['one', 'two', 'three']);
    expect(new Set(sent).size).toBe(3);
  },
);

it(
  'an agent that cannot be reached is tried again, later and later, and holds back no other',
  promise('G367'),
  async () => {
    const { waker, send, inboxes, take, clock } = await room();
    await send('one');
    const attempts: number[] = [];
    let isAway = true;
    const failing = waker(async (wake, text) => {
      if (wake.conversationId === 'c-1' && isAway) {
        attempts.push(clock.nowMs);
        throw new ConversationError('temporal_unreachable', 'away');
      }
      await take(wake, text);
    });
    for (; clock.nowMs < 20_000; clock.nowMs += 100) await failing.pass();
    expect(inboxes.get('c-2')).toEqual(['one']);
    expect(attempts.map((at) => at - 1_000)).toEqual([0, 1_000, 3_000, 7_000, 15_000]);
    isAway = false;
    await send('two');
    clock.nowMs += 3_600_000;
    await failing.pass();
    expect(inboxes.get('c-1')).toEqual(['one', 'two']);
  },
);

it.each(['conversation_closed', 'agent_mismatch'] as const satisfies readonly FailureCode[])(
  'an agent whose conversation refuses events (%s) gets no more of them, and the log has it',
  async (code) => {
    const { waker, send, warned, clock } = await room(['c-1']);
    await send('one');
    const refusing = waker(() => Promise.reject(new ConversationError(code, 'no')));
    expect(await refusing.pass()).toBe(0);
    clock.nowMs += 3_600_000;
    expect(await waker().pass()).toBe(0);
    expect(JSON.stringify(warned)).toContain('c-1');
  },
);

it(
  'an agent that leaves meanwhile, or whose conversation is deleted, is not woken',
  promise('G367'),
  async () => {
    const { spaces, id, log, waker, send, inboxes, take } = await room();
    for (const text of ['one', 'two']) await send(text);
    await waker(async (wake, text) => {
      await take(wake, text);
      if (wake.conversationId === 'c-1') await spaces.leave(ANN, id, agentAs('c-1').member);
      else await log.beginDeletion({ tenant: 'default', conversationId: 'c-2', runIds: [] });
    }).pass();
    expect([...inboxes.values()]).toEqual([['one'], ['one']]);
    expect(await spaces.members(ANN, id)).toHaveLength(1);
  },
);

it(
  'several wakers with failures at random deliver all texts, in order',
  promise('G367'),
  async () => {
    const dice = new Dice(11);
    const { waker, send, inboxes, take, clock, id, spaces } = await room(['c-1', 'c-2', 'c-3']);
    const flaky: DeliverText = async (wake, text) => {
      if (dice.oneIn(4)) throw new Error('broken');
      await take(wake, text);
      if (dice.oneIn(4)) throw new Error('broken after it was taken');
    };
    const wakers = [waker(flaky), waker(flaky), waker(flaky)];
    const texts: string[] = [];
    for (let round = 0; round < 40; round += 1) {
      for (let n = dice.below(4); n > 0; n -= 1) {
        texts.push(`m${texts.length}`);
        await send(texts.at(-1) ?? '');
      }
      await Promise.all(wakers.map((each) => each.pass()));
      clock.nowMs += dice.below(5_000);
    }
    for (let round = 0; round < 100; round += 1) {
      clock.nowMs += 600_000;
      await Promise.all(wakers.map((each) => each.pass()));
    }
    for (const conversationId of ['c-1', 'c-2', 'c-3'])
      expect(inboxes.get(conversationId)).toEqual(texts);
    expect(await spaces.get(ANN, id)).toMatchObject({ lastPosition: texts.length });
  },
);

it('a slow agent takes one of sixteen places: the texts of forty others are delivered beside it', async () => {
  const names = Array.from({ length: 41 }, (_each, n) => `c-${n}`);
  const { waker, send, inboxes, take } = await room(names);
  for (const text of ['one', 'two']) await send(text);
  let atOnce = 0;
  let most = 0;
  let release = (): void => undefined;
  const isFree = new Promise<void>((resolve) => {
    release = resolve;
  });
  const slow = waker(async (wake, text) => {
    atOnce += 1;
    most = Math.max(most, atOnce);
    if (wake.conversationId === 'c-0') await isFree;
    await take(wake, text);
    atOnce -= 1;
  });
  const passing = slow.pass();
  const reached = (text: string) => [...inboxes.values()].filter((inbox) => inbox.includes(text));
  await until('the others have both', () => reached('two').length === 40);
  // A text that comes meanwhile waits for no pass.
  await send('three');
  await until('the others have it', () => reached('three').length === 40);
  expect(inboxes.has('c-0')).toBe(false);
  release();
  expect(await passing).toBe(3 * 41);
  expect(most).toBe(16);
  for (const name of names) expect(inboxes.get(name)).toEqual(['one', 'two', 'three']);
});

it('a store that fails ends the pass with its error, after the texts that are being delivered', async () => {
  const { store, send, inboxes, take, clock } = await room(['c-1']);
  await send('one');
  let claims = 0;
  const failing = new SpaceWaker({
    store: {
      claimWakes: async (options) => {
        claims += 1;
        if (claims > 1) throw new Error('the store is away');
        return await store.claimWakes(options);
      },
      isMember: (...given) => store.isMember(...given),
      settleWake: (...given) => store.settleWake(...given),
      textsFor: (...given) => store.textsFor(...given),
    },
    deliver: async (wake, text) => {
      await until('the store has failed', () => claims > 1);
      await take(wake, text);
    },
    now: () => clock.nowMs,
    intervalMs: 5,
  });
  await expect(failing.pass()).rejects.toThrow('the store is away');
  expect(inboxes.get('c-1')).toEqual(['one']);
});

it('a store that fails while a text is settled ends the pass with its error, and the text comes again', async () => {
  const { store, send, inboxes, take, clock, waker } = await room(['c-1']);
  await send('one');
  const failing = new SpaceWaker({
    store: {
      claimWakes: (...given) => store.claimWakes(...given),
      isMember: (...given) => store.isMember(...given),
      settleWake: () => Promise.reject(new Error('the store is away')),
      textsFor: (...given) => store.textsFor(...given),
    },
    deliver: take,
    now: () => clock.nowMs,
    intervalMs: 5,
  });
  await expect(failing.pass()).rejects.toThrow('the store is away');
  clock.nowMs += 60_000;
  expect(await waker().pass()).toBe(1);
  expect(inboxes.get('c-1')).toEqual(['one']);
});

it('an agent whose texts are removed, and its space not yet, is claimed again after a while only', async () => {
  const { store, send, inboxes, take, clock, waker } = await room(['c-1']);
  await send('one');
  let claims = 0;
  const during = new SpaceWaker({
    store: {
      claimWakes: async (options) => {
        claims += 1;
        if (claims > 50) throw new Error('the agent is claimed without end');
        return await store.claimWakes(options);
      },
      isMember: (...given) => store.isMember(...given),
      settleWake: (...given) => store.settleWake(...given),
      textsFor: () => Promise.resolve([]),
    },
    deliver: take,
    now: () => clock.nowMs,
    random: () => 0.5,
    intervalMs: 5,
  });
  expect(await during.pass()).toBe(0);
  expect(await waker().pass()).toBe(0);
  clock.nowMs += 1_000;
  expect(await waker().pass()).toBe(1);
  expect(inboxes.get('c-1')).toEqual(['one']);
});

it('runs by itself until it is stopped, and can be started again', async () => {
  const { waker, send, inboxes } = await room(['c-1']);
  const running = waker();
  running.start();
  await send('one');
  await until('it is delivered', () => inboxes.get('c-1')?.length === 1);
  await running.stop();
  await send('two');
  running.start();
  await until('the next is, too', () => inboxes.get('c-1')?.length === 2);
  await running.stop();
});

it('the longest text makes an event that an inbox takes', async () => {
  const { send, store } = await room(['c-1']);
  await send('"'.repeat(MAX_SPACE_TEXT_BYTES));
  const [wake] = await store.claimWakes({ limit: 1, nowMs: 2_000, leaseMs: 1 });
  const [text] = await store.textsFor(wake!, { limit: 1 });
  const event = spaceEventOf(wake!, text!);
  expect(inboxFieldProblems(event)).toEqual([]);
  expect(event).toMatchObject({
    kind: 'space.message',
    payload: { position: 1, author: { kind: 'person', id: 'ann', name: 'Ann' } },
  });
});
