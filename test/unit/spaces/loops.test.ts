/** Agents that answer each other are stopped; a text of a person lets them go on. */
import { expect, it, onTestFinished } from 'vitest';
import {
  MAX_AGENT_HOPS,
  MAX_AGENT_TEXTS_AN_HOUR,
} from '../../../src/protocol/limits/service-limits.js';
import { agentMemberId } from '../../../src/protocol/spaces/spaces.js';
import { type EarlierText, judgeText, withoutLoops } from '../../../src/spaces/loops.js';
import { type SpaceCaller, Spaces } from '../../../src/spaces/service.js';
import { SpaceWaker } from '../../../src/spaces/wakes.js';
import { openSqliteStores } from '../../../src/store/sqlite/event-log.js';
import { promise } from '../../support/promise.js';
import { ANN, BOT } from '../../support/spaces/room-of-agent.js';

const agentAs = (conversationId: string): SpaceCaller => ({
  tenant: 'default',
  member: { kind: 'agent', id: agentMemberId({ conversationId, agent: 'bot' }) },
});

/** Agents that answer every text; returns the texts by which each was woken. */
async function talkers(
  answer: (count: number) => string = (count) => `answer ${count}`,
  agents: readonly string[] = ['c-1', 'c-2'],
  /** Calls that an agent shows before each text. `silent`: it never answers. */
  { shown = 0, silent }: { readonly shown?: number; readonly silent?: string } = {},
) {
  const { spaces: store, log } = await openSqliteStores({ file: ':memory:' });
  onTestFinished(() => log.close());
  const clock = { nowMs: 1_000_000 };
  const now = (): number => clock.nowMs;
  const spaces = new Spaces({ store, now });
  const { id } = await spaces.create(ANN, { name: 'Room' });
  const join = (conversationId: string) => spaces.join(ANN, id, agentAs(conversationId).member);
  for (const conversationId of agents) await join(conversationId);
  const woken: (readonly [string, number | undefined])[] = [];
  let count = 0;
  const logger = { info: () => undefined, warn: () => undefined };
  const deliver = withoutLoops(
    async ({ conversationId }, text, hops) => {
      woken.push([text.text, hops]);
      clock.nowMs += 1_000;
      // Without a limit the test ends red instead of never.
      if (conversationId === silent || count >= 100) return;
      const requestId = `${conversationId}:${text.id}`;
      for (let n = 0; n < shown; n += 1)
        await spaces.show(agentAs(conversationId), id, {
          ...{ requestId: `${requestId}:${n}`, status: 'complete' },
        });
      count += 1;
      await spaces.send(agentAs(conversationId), id, { text: answer(count), requestId });
    },
    { store, spaces, logger },
  );
  const waker = new SpaceWaker({ store, deliver, logger, now });
  const messages = async () => (await spaces.messages(ANN, id, { limit: 100 })).messages;
  const say = async (text: string): Promise<number> => {
    woken.length = 0;
    clock.nowMs += 1_000;
    await spaces.send(ANN, id, { text });
    await waker.pass();
    return woken.length;
  };
  /** Why agents were not woken, as the space shows it. */
  const stops = async (): Promise<readonly unknown[]> =>
    (await messages())
      .filter(({ metadata }) => metadata?.['toolName'] === 'loop_protection')
      .map(({ metadata }) => metadata?.['reason']);
  return { say, woken, messages, stops, waker, join, spaces, id, clock };
}

it(
  'two agents that always answer stop at the limit of hops, and a text of a person resets it',
  promise('G370'),
  async () => {
    const { say, woken, messages, waker } = await talkers();
    // Both are woken by the person, and then each by the texts of the other until there are ten.
    const count = await say('Discuss');
    expect(count).toBe(2 + MAX_AGENT_HOPS);
    expect(woken.map(([, hops]) => hops)).toEqual(
      expect.arrayContaining([0, 0, 1, MAX_AGENT_HOPS]),
    );
    expect(Math.max(...woken.map(([, hops]) => hops ?? 0))).toBe(MAX_AGENT_HOPS);
    const stops = (await messages()).filter(({ kind }) => kind === 'tool');
    expect(stops).toHaveLength(1);
    expect(stops[0]).toMatchObject({
      status: 'error',
      metadata: { toolName: 'loop_protection', reason: 'hops', hops: MAX_AGENT_HOPS + 1 },
    });
    expect(stops[0]?.text).toContain('A text of a person wakes all agents again');
    expect(await waker.pass()).toBe(0);
    expect(await say('Go on')).toBe(count);
  },
);

it('one message says so, however many agents are stopped', promise('G370'), async () => {
  const agents = ['c-1', 'c-2', 'c-3', 'c-4'];
  const { say, messages } = await talkers(undefined, agents);
  // Each text of an agent wakes the three others, up to the tenth.
  expect(await say('Discuss')).toBe(agents.length + MAX_AGENT_HOPS * (agents.length - 1));
  const all = await messages();
  const stops = all.filter(({ kind }) => kind === 'tool');
  expect(stops).toHaveLength(1);
  const stopped = all.find(({ id }) => id === stops[0]?.metadata?.['messageId']);
  expect(stops[0]?.author).toEqual(stopped?.author);
});

it('an agent is not woken by its own words', promise('G370'), async () => {
  const { say, messages } = await talkers(() => 'ping');
  // Both answer the person, and one the first answer of the other: it had said nothing before that.
  expect(await say('Say ping')).toBe(3);
  const stops = (await messages()).filter(({ kind }) => kind === 'tool');
  expect(stops.map(({ metadata }) => metadata?.['reason'])).toEqual(['echo', 'echo']);
});

it(
  'the limit of hops holds with a hundred shown calls before each text',
  promise('G370'),
  async () => {
    const { say, woken, stops } = await talkers(undefined, undefined, { shown: 100 });
    expect(await say('Discuss')).toBe(2 + MAX_AGENT_HOPS);
    expect(Math.max(...woken.map(([, hops]) => hops ?? 0))).toBe(MAX_AGENT_HOPS);
    expect(await stops()).toEqual(['hops']);
  },
);

it(
  'the limit of an hour holds with shown calls and texts of people between those of agents',
  promise('G370'),
  async () => {
    const options = { shown: 1, silent: 'c-2' };
    const { say, woken, stops, join, spaces, id, clock } = await talkers(undefined, [], options);
    await join('c-1');
    // No agent is woken for these: both agents join behind them.
    for (let n = 5; n < MAX_AGENT_TEXTS_AN_HOUR; n += 1) {
      clock.nowMs += 1_000;
      await spaces.send(ANN, id, { text: `question ${n}` });
      await spaces.show(agentAs('c-1'), id, { requestId: `call ${n}`, status: 'complete' });
      await spaces.send(agentAs('c-1'), id, { text: `earlier answer ${n}` });
    }
    await spaces.leave(ANN, id, agentAs('c-1').member);
    for (const conversationId of ['c-1', 'c-2']) await join(conversationId);
    let byAgent = 0;
    // Each text of the person wakes both, and the answer of the one wakes the other.
    for (let n = 0; n < 10; n += 1) {
      await say(`text ${n}`);
      byAgent += woken.filter(([, hops]) => hops === 1).length;
    }
    expect(byAgent).toBe(5);
    expect(await stops()).toEqual(['rate']);
  },
);

const textOf = (kind: 'person' | 'agent', minute: number): EarlierText => ({
  author: { kind, id: 'x' },
  words: `t${minute}`,
  createdAt: new Date(minute * 60_000).toISOString(),
});

it(
  'texts of agents stop to wake at the limit of an hour, also where people write between them',
  promise('G370'),
  () => {
    const recipient = { kind: 'agent', id: BOT } as const;
    const perMinute = MAX_AGENT_TEXTS_AN_HOUR / 60;
    const earlier = (minutes: number): readonly EarlierText[] =>
      Array.from({ length: minutes }, (_, index) => 1_000 - index).flatMap((minute) => [
        textOf('person', minute),
        ...Array.from({ length: perMinute }, () => textOf('agent', minute)),
      ]);
    const text = textOf('agent', 1_000);
    expect(judgeText(text, earlier(59), { recipient })).toEqual({ hops: 1 });
    expect(judgeText(text, earlier(60), { recipient })).toEqual({ hops: 1, stop: 'rate' });
    // Texts that are older than an hour do not count.
    expect(judgeText(textOf('agent', 1_001), earlier(60), { recipient })).toEqual({ hops: 1 });
    expect(judgeText(textOf('person', 1_000), earlier(60), { recipient })).toEqual({ hops: 0 });
  },
);
