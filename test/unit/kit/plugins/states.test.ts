/** States of plugins in conversations: who sees which change, and when. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  defineAgent,
  definePlugin,
  defineTool,
  type Json,
  toolError,
} from '../../../../src/index.js';
import {
  calls,
  callsAll,
  responds,
  says,
  script,
  testConversation,
} from '../../../../src/testing/index.js';

import { promise } from '../../../support/promise.js';

const counter = definePlugin({
  id: 'counter',
  state: z.object({ count: z.number().default(0), log: z.array(z.string()).default([]) }),
});

/** Notes the count that it sees, and adds to it. */
const add = defineTool({
  name: 'counter.add',
  description: 'Add',
  input: z.object({ by: z.number(), fail: z.enum(['throw', 'return']).optional() }),
  run: ({ by, fail }, ctx) => {
    const { count } = ctx.getState(counter);
    ctx.patchState(
      counter,
      { op: 'increment', path: '/count', by },
      { op: 'append', path: '/log', values: [`${by}@${count}`] },
    );
    if (fail === 'throw') throw new Error('broken');
    if (fail === 'return') return toolError('no luck');
    return { saw: count, after: ctx.getState(counter).count };
  },
});
const set = defineTool({
  name: 'counter.set',
  description: 'Set',
  input: z.object({ to: z.number() }),
  run: ({ to }, ctx) => {
    ctx.setState(counter, { ...ctx.getState(counter), count: to });
    return null;
  },
});
const read = defineTool({
  name: 'counter.read',
  description: 'Read',
  input: z.object({}),
  run: (_, ctx) => ctx.getState(counter),
});
const gated = defineTool({
  name: 'counter.gated',
  description: 'Add, gated',
  input: z.object({ by: z.number() }),
  approval: 'required',
  run: ({ by }, ctx) => {
    ctx.patchState(counter, { op: 'increment', path: '/count', by });
    return { saw: ctx.getState(counter).count - by };
  },
});
const slow = defineTool({
  name: 'counter.slow',
  description: 'Add, detached',
  input: z.object({ by: z.number() }),
  mode: 'detach',
  run: ({ by }, ctx) => {
    ctx.patchState(counter, { op: 'increment', path: '/count', by });
    return { added: by };
  },
});
const late = defineTool({
  name: 'counter.late',
  description: 'Add, detached and gated',
  input: z.object({ by: z.number() }),
  mode: 'detach',
  approval: 'required',
  run: ({ by }, ctx) => {
    ctx.patchState(counter, { op: 'increment', path: '/count', by });
    return { added: by };
  },
});
const tools = [add, set, read, gated, slow, late];

function started(model: ReturnType<typeof script>, settings?: { toolExecution: 'sequential' }) {
  const agent = defineAgent({
    name: 'a',
    model,
    instructions: 'Help.',
    plugins: [counter],
    tools,
    ...(settings === undefined ? {} : { settings }),
  });
  return testConversation(agent);
}

const patchesIn = (t: ReturnType<typeof started>) =>
  t.events.flatMap((event) => (event.type === 'state_patch' ? [event] : []));
const resultsIn = (t: ReturnType<typeof started>): readonly Json[] =>
  t.events.flatMap(({ type, ...event }) =>
    type === 'tool_result' && 'result' in event && event.result.envelope.ok
      ? [event.result.envelope.result]
      : [],
  );

describe('the state of a plugin', () => {
  it(
    'has the defaults of its schema first, and what a tool wrote in the next step',
    promise('C10'),
    async () => {
      const t = started(
        script(calls('counter.add', { by: 2 }), calls('counter.read', {}), says('2')),
      );
      await t.send('Add two');
      expect(resultsIn(t)).toEqual([
        { saw: 0, after: 2 },
        { count: 2, log: ['2@0'] },
      ]);
    },
  );

  it('is replaced by a tool, with the old values that the tool keeps', promise('C16'), async () => {
    const t = started(
      script(
        calls('counter.add', { by: 2 }),
        calls('counter.set', { to: 7 }),
        calls('counter.read', {}),
        says('7'),
      ),
    );
    await t.send('Set it');
    expect(resultsIn(t).at(-1)).toEqual({ count: 7, log: ['2@0'] });
  });

  it(
    'is the same for all calls of a step, and gets their changes in call order',
    promise('G301'),
    async () => {
      const model = script(
        callsAll([
          { name: 'counter.add', input: { by: 1 } },
          { name: 'counter.add', input: { by: 10 } },
          { name: 'counter.read', input: {} },
        ]),
        calls('counter.read', {}),
        says('ok'),
      );
      const t = started(model);
      await t.send('Add');
      expect(resultsIn(t).map((result) => JSON.stringify(result))).toEqual([
        '{"saw":0,"after":1}',
        '{"saw":0,"after":10}',
        '{"count":0,"log":[]}',
        '{"count":11,"log":["1@0","10@0"]}',
      ]);
    },
  );

  it(
    'gets the changes in call order also when the first call ends last',
    promise('G301'),
    async () => {
      const model = script(
        callsAll([
          { name: 'counter.gated', input: { by: 5 }, id: 'first' },
          { name: 'counter.set', input: { to: 100 }, id: 'second' },
        ]),
        calls('counter.read', {}),
        says('ok'),
      );
      const t = started(model);
      await t.send('Go');
      expect(patchesIn(t)).toEqual([]);
      await t.approve('first');
      expect(patchesIn(t).map(({ toolCallId }) => toolCallId)).toEqual(['first', 'second']);
      expect(resultsIn(t).at(-1)).toEqual({ count: 100, log: [] });
    },
  );

  it('is read by each call of a sequential step as the call before left it', async () => {
    const model = script(
      callsAll([
        { name: 'counter.add', input: { by: 1 } },
        { name: 'counter.add', input: { by: 10 } },
      ]),
      says('ok'),
    );
    const t = started(model, { toolExecution: 'sequential' });
    await t.send('Add');
    expect(resultsIn(t)).toEqual([
      { saw: 0, after: 1 },
      { saw: 1, after: 11 },
    ]);
  });

  it('gets the changes of a detached call with its result, while no turn runs', async () => {
    const model = script(calls('counter.slow', { by: 3 }), says('later'), says('done'));
    const t = started(model);
    await t.send('Go');
    const at = t.events.findIndex(({ type }) => type === 'inbox_event');
    expect(t.events[at + 1]).toMatchObject({ type: 'state_patch', plugin: 'counter' });
    expect(patchesIn(t)).toHaveLength(1);
  });

  it('gets the changes of a detached call days later, after roll-overs, and not before', async () => {
    const model = script(
      calls('counter.late', { by: 4 }),
      says('later'),
      calls('counter.read', {}),
      says('still none'),
      says('heard of it'),
      calls('counter.read', {}),
      says('ok'),
    );
    const t = started(model);
    await t.send('Go');
    await t.send('Read');
    expect(resultsIn(t).at(-1)).toMatchObject({ count: 0 });
    t.rollOver();
    await t.advance('3 days');
    await t.approve('counter.late');
    await t.send('Read');
    expect(resultsIn(t).at(-1)).toMatchObject({ count: 4 });
    const at = t.events.findIndex(({ type }) => type === 'inbox_event');
    expect(t.events[at + 1]).toMatchObject({
      ...{ type: 'state_patch', plugin: 'counter' },
      changes: [{ op: 'increment', path: '/count', by: 4 }],
    });
    expect(patchesIn(t)).toHaveLength(1);
  });

  it.each([
    ['throw', 0],
    ['return', 2],
  ] as const)('keeps the changes of a call that fails by %s: %i', async (fail, count) => {
    const model = script(
      calls('counter.add', { by: 2, fail }),
      calls('counter.read', {}),
      says('x'),
    );
    const t = started(model);
    await t.send('Add');
    expect(resultsIn(t).at(-1)).toMatchObject({ count });
  });

  it('survives roll-overs and the end of turns', async () => {
    const model = script(
      calls('counter.add', { by: 2 }),
      says('ok'),
      calls('counter.read', {}),
      says('ok'),
    );
    const t = started(model);
    await t.send('Add');
    t.rollOver();
    await t.send('Read');
    expect(resultsIn(t).at(-1)).toMatchObject({ count: 2 });
  });

  it('gets the changes of calls whose turn was cancelled before the step ended', async () => {
    const model = script(
      callsAll([
        { name: 'counter.add', input: { by: 2 } },
        { name: 'counter.gated', input: { by: 5 } },
      ]),
      calls('counter.read', {}),
      says('ok'),
    );
    const t = started(model);
    await t.send('Go');
    await t.cancel();
    await t.send('Read');
    expect(resultsIn(t).at(-1)).toMatchObject({ count: 2 });
  });
});

describe('a deploy with another version of a plugin', () => {
  const v2 = definePlugin({
    id: 'counter',
    version: 2,
    state: z.object({ total: z.number().default(0) }),
    migrate: (value) => ({ total: (value as { count?: number }).count ?? 0 }),
  });
  const addTotal = defineTool({
    name: 'counter.add',
    description: 'Add',
    input: z.object({ by: z.number() }),
    run: ({ by }, ctx) => {
      ctx.patchState(v2, { op: 'increment', path: '/total', by });
      return ctx.getState(v2);
    },
  });

  it('migrates the state when it is read, and writes it with the first change', async () => {
    const model = script(
      calls('counter.add', { by: 2 }),
      says('ok'),
      calls('counter.add', { by: 3 }),
      responds(() => says('ok')),
    );
    const t = started(model);
    await t.send('Add');
    await t.deploy(
      defineAgent({ name: 'a', model, instructions: 'x', plugins: [v2], tools: [addTotal] }),
    );
    await t.send('Add');
    expect(resultsIn(t).at(-1)).toEqual({ total: 5 });
    expect(patchesIn(t).at(-1)).toMatchObject({
      version: 2,
      changes: [
        { op: 'set', path: '', value: { total: 2 } },
        { op: 'increment', path: '/total', by: 3 },
      ],
    });
  });
});
