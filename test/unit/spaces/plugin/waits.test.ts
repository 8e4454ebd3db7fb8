/** Visible calls that wait, and calls that no worker runs, as the log of their conversation has a space show them. */
import { expect, it } from 'vitest';
import { z } from 'zod';
import { hsafaTools } from '../../../../src/compat/hsafa/index.js';
import { defineAgent, defineTool } from '../../../../src/index.js';
import type { SpaceMessage } from '../../../../src/protocol/spaces/spaces.js';
import { showingLog } from '../../../../src/spaces/calls/showing-log.js';
import { calls, callsAll, says, script, testConversation } from '../../../../src/testing/index.js';
import { openSqliteEventLog } from '../../../support/event-logs.js';
import { promise } from '../../../support/promise.js';
import { DESK } from '../../../support/spaces/room-of-agent.js';
import { storedRoom } from '../../../support/spaces/stored-room.js';

const ENTER = { name: 'enter_space', input: { spaceId: DESK } };
const input = z.object({ n: z.number().optional() });
const metadata = { visible: true };
const object = { type: 'object' };

const otherLog = async () => await openSqliteEventLog({ file: ':memory:' });

const statuses = (messages: readonly SpaceMessage[]): readonly string[] =>
  messages.map(({ status }) => status);

it(
  'a call that waits for a person requires action until its result is there, also where it is async',
  promise('H14', 'H31', 'H46', 'H53', 'S26', 'G369'),
  async () => {
    const { tools } = hsafaTools([
      {
        ...{ name: 'confirm', description: 'Ask', inputSchema: object },
        executionType: 'space',
        isAsync: true,
      },
    ]);
    const { t, shown, messages, store } = await storedRoom(
      tools,
      callsAll([ENTER, { name: 'confirm', input: { order: 42 } }]),
      says('asked'),
      says('confirmed'),
    );
    await t.send('Go');
    await store();
    const call = { toolName: 'confirm', input: { order: 42 } };
    expect(await messages()).toMatchObject([{ status: 'requires_action', metadata: call }]);
    await t.answer('confirm', { confirmed: true });
    await store();
    expect(await messages()).toMatchObject([
      { status: 'complete', metadata: { ...call, output: { confirmed: true } } },
    ]);
    expect(statuses(shown)).toEqual(['running', 'requires_action', 'complete']);
  },
);

it('a call of another backend that is late is an error, which stays', promise('S26'), async () => {
  const { tools } = hsafaTools({
    ...{ name: 'fetchData', description: 'Get', executionType: 'external', inputSchema: object },
    timeout: 10_000,
  });
  const { t, messages, store } = await storedRoom(
    tools,
    callsAll([ENTER, { name: 'fetchData', input: {} }]),
    says('late'),
    says('it came'),
  );
  await t.send('Go');
  await t.advance('11 seconds');
  await store();
  expect(await messages()).toMatchObject([
    { status: 'error', metadata: { error: { message: 'Tool timed out after 10000ms' } } },
  ]);
  await t.answer('fetchData', { late: true });
  await store();
  expect(statuses(await messages())).toEqual(['error']);
});

it('a question of a document whose wait has ended is an error, as that of another backend is', async () => {
  const { tools } = hsafaTools({
    ...{ name: 'confirm', description: 'Ask', executionType: 'space', inputSchema: object },
    timeout: 10_000,
  });
  const { t, messages, store } = await storedRoom(
    tools,
    callsAll([ENTER, { name: 'confirm', input: {} }]),
    says('late'),
  );
  await t.send('Go');
  await t.advance('11 seconds');
  await store();
  expect(await messages()).toMatchObject([
    { status: 'error', metadata: { error: { message: 'Tool timed out after 10000ms' } } },
  ]);
});

it('an answer that says that there was an error is an answer: its call is complete', async () => {
  const { tools } = hsafaTools({
    ...{ name: 'confirm', description: 'Ask', executionType: 'space', inputSchema: object },
  });
  const answers = [callsAll([ENTER, { name: 'confirm', input: {} }]), says('sorry')];
  const { t, messages, store } = await storedRoom(tools, ...answers);
  await t.send('Go');
  await t.answer('confirm', { error: 'no such order' });
  await store();
  expect(await messages()).toMatchObject([
    { status: 'complete', metadata: { output: { error: 'no such order' } } },
  ]);
});

it('a call with a default for the end of its wait is complete with that', async () => {
  const ask = defineTool({
    ...{ name: 'ask', description: 'Ask', executor: 'human', metadata },
    ...{ input, output: z.object({ size: z.number() }) },
    timeouts: { answer: '10 seconds' },
    onExpire: { default: { size: 40 } },
  });
  const { t, messages, store } = await storedRoom(
    [ask],
    callsAll([ENTER, { name: 'ask', input: {} }]),
    says('late'),
  );
  await t.send('Go');
  await t.advance('11 seconds');
  await store();
  expect(await messages()).toMatchObject([
    { status: 'complete', metadata: { output: { size: 40 } } },
  ]);
});

it(
  'an internal call is complete at once, with its arguments',
  promise('H14', 'H30', 'H31'),
  async () => {
    const { tools } = hsafaTools({
      ...{ name: 'chart', description: 'Draw', executionType: 'internal', inputSchema: object },
      visible: true,
    });
    const { t, messages, store } = await storedRoom(
      tools,
      callsAll([ENTER, { name: 'chart', input: { bars: [1, 2] } }]),
      says('drawn'),
    );
    await t.send('Go');
    await store();
    expect(await messages()).toMatchObject([
      {
        status: 'complete',
        metadata: { input: { bars: [1, 2] }, output: { success: true, args: { bars: [1, 2] } } },
      },
    ]);
  },
);

it(
  'a call that waits for an approval requires action, then runs; one message in all',
  promise('S26'),
  async () => {
    const refund = defineTool({
      ...{ name: 'refund', description: 'Pay', input, metadata, approval: 'required' },
      run: () => ({ paid: true }),
    });
    const { t, messages, store } = await storedRoom(
      [refund],
      callsAll([ENTER, { name: 'refund', input: { n: 1 } }]),
      says('paid'),
      calls('refund', { n: 2 }),
      says('denied'),
    );
    await t.send('Go');
    await store();
    expect(statuses(await messages())).toEqual(['requires_action']);
    await t.approve('refund', { input: { n: 3 } });
    await store();
    expect(await messages()).toMatchObject([
      { status: 'complete', metadata: { input: { n: 3 }, output: { paid: true } } },
    ]);
    await t.send('Again');
    await t.deny('refund', 'no');
    await store();
    expect(statuses(await messages())).toEqual(['complete', 'error']);
  },
);

it(
  'a worker that dies before it has stored an event shows the call once',
  promise('G369'),
  async () => {
    const { tools } = hsafaTools({
      ...{ name: 'confirm', description: 'Ask', executionType: 'space', inputSchema: object },
    });
    const { t, messages, store, storeWith, deps } = await storedRoom(
      tools,
      callsAll([ENTER, { name: 'confirm', input: {} }]),
      says('done'),
    );
    await t.send('Go');
    let left = 3;
    const dying = showingLog({
      ...deps,
      log: new Proxy(deps.log, {
        get: (target, name) => {
          const value: unknown = Reflect.get(target, name, target);
          if (typeof value !== 'function') return value;
          if (name !== 'append') return value.bind(target) as unknown;
          return (batch: Parameters<typeof target.append>[0]) => {
            const isCall = batch.events.some(({ type }) => type === 'suspension');
            if (isCall && left > 0) {
              left -= 1;
              return Promise.reject(new Error('killed'));
            }
            return target.append(batch);
          };
        },
      }),
    });
    for (let attempt = 0; attempt < 3; attempt += 1)
      await expect(storeWith(dying)).rejects.toThrow('killed');
    await store();
    await t.answer('confirm', { ok: true });
    await store();
    expect(statuses(await messages())).toEqual(['complete']);
  },
);

it('a worker that begins in the middle reads the log up to there, and shows nothing across a gap', async () => {
  const { tools } = hsafaTools({
    ...{ name: 'confirm', description: 'Ask', executionType: 'space', inputSchema: object },
  });
  const { t, messages, storeWith, deps } = await storedRoom(
    tools,
    callsAll([ENTER, { name: 'confirm', input: {} }]),
    says('done'),
  );
  await t.send('Go');
  const key = { tenant: 'default', conversationId: 'test', runId: 'run' };
  const asked = t.events.filter(({ type }) => type === 'suspension');
  expect(await showingLog(deps).append({ ...key, events: asked })).toMatchObject({
    outcome: 'gap',
  });
  expect(await messages()).toEqual([]);
  await storeWith(showingLog(deps));
  await t.answer('confirm', { ok: true });
  // Another worker, which has seen none of the events before.
  await storeWith(showingLog(deps));
  expect(await messages()).toMatchObject([
    { status: 'complete', metadata: { output: { ok: true } } },
  ]);
});

/** A question that waits, and the manifests of its agent and of a catalog with the same tools. */
async function askedWithCatalog() {
  const { tools } = hsafaTools({
    ...{ name: 'confirm', description: 'Ask', executionType: 'space', inputSchema: object },
  });
  const answers = [callsAll([ENTER, { name: 'confirm', input: {} }]), says('done')];
  const { t, messages, storeWith, deps } = await storedRoom(tools, ...answers);
  await t.send('Go');
  const [own] = deps.agents;
  if (own === undefined) throw new Error('unreachable');
  const catalog = { ...own, name: 'catalog', isCatalog: true as const };
  return { messages, storeWith, deps, catalog, withoutTools: { ...own, tools: [] } };
}

it('an agent that is a document shows the visible tools of the plugins of its catalog; an agent in code does not', async () => {
  const { messages, storeWith, deps, catalog, withoutTools } = await askedWithCatalog();
  await storeWith(showingLog({ ...deps, log: await otherLog(), agents: [catalog, withoutTools] }));
  expect(await messages()).toEqual([]);
  await storeWith(showingLog({ ...deps, agents: [catalog] }));
  expect(statuses(await messages())).toEqual(['requires_action']);
});

it('a document in place of an agent in code that no worker serves any more shows them, too', async () => {
  const { messages, storeWith, deps, catalog, withoutTools } = await askedWithCatalog();
  const retired = { ...withoutTools, notServedSince: '2026-01-01T00:00:00.000Z' };
  await storeWith(showingLog({ ...deps, agents: [catalog, retired] }));
  expect(statuses(await messages())).toEqual(['requires_action']);
});

it('conversations of other agents cost the store no reads', async () => {
  const noted = defineTool({ ...{ name: 'note', description: 'Note', input }, run: () => 1 });
  const { deps } = await storedRoom([], says('done'));
  let reads = 0;
  const showing = showingLog({
    ...deps,
    log: new Proxy(deps.log, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name, target);
        if (typeof value !== 'function') return value;
        if (name === 'head' || name === 'read') reads += 1;
        return value.bind(target) as unknown;
      },
    }),
  });
  const model = script(calls('note', {}), calls('note', {}), says('done'));
  const t = testConversation(
    defineAgent({ name: 'plain', model, instructions: 'Note.', tools: [noted] }),
  );
  await t.send('Go');
  const key = { tenant: 'default', conversationId: 'plain', runId: 'run' };
  for (const event of t.events)
    expect(await showing.append({ ...key, events: [event] })).toMatchObject({
      outcome: 'appended',
    });
  expect(reads).toBe(0);
  // A reset may have dropped a hand-off, so the log says whose conversation it is.
  const [called] = t.events.filter(({ type }) => type === 'tool_call');
  if (called === undefined) throw new Error('unreachable');
  const head = { generation: 1, runId: key.runId, lastSeq: t.events.length };
  await showing.append({ ...key, cutsOff: { lastSeq: called.seq - 1, head }, events: [called] });
  expect(reads).toBeGreaterThan(0);
});
