/** Changes of plugin states that are refused: when they are made, and when they take effect. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineAgent, definePlugin, defineTool, type ToolContext } from '../../../../src/index.js';
import { calls, callsAll, says, script, testConversation } from '../../../../src/testing/index.js';
import { promise } from '../../../support/promise.js';

const counter = definePlugin({
  id: 'counter',
  state: z.object({ count: z.number().default(0), log: z.array(z.string()).default([]) }),
});

/** Any JSON is its state. */
const any = definePlugin({ id: 'any' });

describe('a change that no longer fits when it takes effect', () => {
  const list = definePlugin({ id: 'list', state: z.object({ items: z.unknown().optional() }) });
  const toText = defineTool({
    name: 'list.to_text',
    description: 'Replace',
    input: z.object({}),
    run: (_, ctx) => {
      ctx.setState(list, { items: 'a text' });
      return null;
    },
  });
  const append = defineTool({
    name: 'list.append',
    description: 'Append',
    input: z.object({}),
    run: (_, ctx) => {
      ctx.patchState(list, { op: 'append', path: '/items', values: [1] });
      return null;
    },
  });

  it('is refused in the log, and the change of the other call stays', promise('G302'), async () => {
    const model = script(
      callsAll([
        { name: 'list.to_text', input: {} },
        { name: 'list.append', input: {} },
      ]),
      says('ok'),
    );
    const t = testConversation(
      defineAgent({
        name: 'a',
        model,
        instructions: 'x',
        plugins: [list],
        tools: [toText, append],
      }),
    );
    await t.send('Go');
    expect(t.events.filter(({ type }) => type === 'state_patch')).toMatchObject([
      { plugin: 'list', changes: [{ op: 'set', path: '' }] },
      {
        plugin: 'list',
        refused: { code: 'does_not_fit', message: 'append at "/items": the value is no list' },
      },
    ]);
  });
});

describe('the code of a tool', () => {
  it.each([
    [
      'names a plugin that the agent lacks',
      (ctx) => ctx.getState('other'),
      /the agent has no plugin "other"; it has counter, any/,
    ],
    [
      'writes a value that the schema refuses',
      (ctx) => {
        ctx.setState('counter', { count: 'x' });
      },
      /its state does not match its schema: \/count/,
    ],
    [
      'makes a change that does not fit',
      (ctx) => {
        ctx.patchState(
          counter,
          { op: 'set', path: '/count', value: 1 },
          { op: 'append', path: '/count', values: [] },
        );
      },
      /plugin "counter": append at "\/count": the value is no list/,
    ],
    [
      'makes changes of more than 256 KiB in one run',
      (ctx) => {
        for (const path of ['/a', '/b'])
          ctx.patchState(any, { op: 'set', path, value: 'x'.repeat(140_000) });
      },
      /changes of \d+ bytes in one run, more than 262144/,
    ],
    [
      'makes no change',
      (ctx) => {
        ctx.patchState(counter, { op: 'move', path: '' } as never);
      },
      /change 1 must be/,
    ],
    [
      'patches beyond the schema',
      (ctx) => {
        ctx.patchState(counter, { op: 'set', path: '/count', value: 'x' });
      },
      /its state does not match its schema: \/count/,
    ],
  ] as readonly (readonly [string, Code, RegExp])[])(
    'gets an error that says so when it %s',
    async (_title, run, message) => {
      const model = script(calls('bad', {}), says('ok'));
      const agent = defineAgent({
        name: 'a',
        model,
        instructions: 'x',
        plugins: [counter, any],
        tools: [toolRunning(run)],
      });
      const t = testConversation(agent);
      await t.send('Go');
      const result = t.events.find(({ type }) => type === 'tool_result');
      expect(JSON.stringify(result)).toMatch(new RegExp(message.source.replaceAll('"', '\\\\*"')));
    },
  );
});

type Code = (ctx: ToolContext) => unknown;

function toolRunning(run: Code) {
  return defineTool({
    name: 'bad',
    description: 'Bad',
    input: z.object({}),
    run: (_, ctx) => {
      run(ctx);
      return null;
    },
  });
}
