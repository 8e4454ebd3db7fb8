/** Plugins that take part in the calls of their agent: they refuse some, and see those that workers run. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { CallHooks, SeenEnd } from '../../../../src/define/plugin/call-hooks.js';
import type { Port } from '../../../../src/define/tool/ports.js';
import { defineAgent, definePlugin, defineTool, toolError } from '../../../../src/index.js';
import { calls, callsAll, says, script, testConversation } from '../../../../src/testing/index.js';

const input = z.object({});

/** A plugin with a vault: its tool opens it, and other calls are refused while it is closed. */
function vaultWith(hooks: CallHooks = {}) {
  return definePlugin({
    id: 'vault',
    state: z.object({ isOpen: z.boolean().default(false) }),
    calls: hooks,
    tools: (self) => [
      defineTool({
        ...{ name: 'open', description: 'Open', input },
        run: (_input, ctx) => {
          ctx.setState(self, { isOpen: true });
          return null;
        },
      }),
    ],
  });
}

const REFUSES_CLOSED: CallHooks = {
  refuse: ({ name }, state) =>
    name !== 'open' && !(state.getState('vault') as { isOpen: boolean }).isOpen
      ? 'The vault is closed'
      : undefined,
};

function agentOf(
  hooks: CallHooks,
  run: () => unknown,
  settings: { readonly toolExecution?: 'sequential' } = {},
) {
  const enter = defineTool({ name: 'enter', description: 'Enter', input, run });
  const model = script(
    callsAll([
      { name: 'open', input: {} },
      { name: 'enter', input: {} },
    ]),
    says('ok'),
  );
  const plugins = [vaultWith(hooks)];
  return defineAgent({
    name: 'a',
    model,
    instructions: 'Help.',
    tools: [enter],
    plugins,
    settings,
  });
}

const resultsOf = (t: ReturnType<typeof testConversation>): readonly unknown[] =>
  t.events.flatMap((event) => (event.type === 'tool_result' ? [event.result.envelope] : []));

describe('refuse', () => {
  it('judges a call at its turn where calls run one after the other', async () => {
    const t = testConversation(
      agentOf(REFUSES_CLOSED, () => 'in', { toolExecution: 'sequential' }),
    );
    await t.send('Go');
    expect(resultsOf(t)).toEqual([
      { ok: true, result: null },
      { ok: true, result: 'in' },
    ]);
  });

  it('judges by the state of the begin of the step where they run at once', async () => {
    let runs = 0;
    const t = testConversation(agentOf(REFUSES_CLOSED, () => (runs += 1)));
    await t.send('Go');
    expect(resultsOf(t)).toContainEqual({
      ok: false,
      error: { code: 'tool_error', message: 'The vault is closed' },
    });
    expect(runs).toBe(0);
  });

  it('refuses where it throws', async () => {
    const refuse = (): never => {
      throw new Error('no idea');
    };
    const t = testConversation(agentOf({ refuse }, () => 'in'));
    await t.send('Go');
    expect(JSON.stringify(resultsOf(t))).toContain(
      'Plugin \\"vault\\" failed in calls.refuse, so the call does not run: no idea',
    );
  });
});

describe('begins and ends', () => {
  it('see each call with its input and result, and get ports and services', async () => {
    const seen: unknown[] = [];
    const clock: Port<() => number> = { id: 'clock' };
    const t = testConversation(
      agentOf(
        {
          begins: ({ tool, turnId, step }, ctx) => {
            seen.push(['begins', tool.name, turnId, step, ctx.port(clock)()]);
            return undefined;
          },
          ends: ({ tool }, end: SeenEnd) => {
            seen.push(['ends', tool.name, end]);
          },
        },
        () => toolError('locked'),
        { toolExecution: 'sequential' },
      ),
      { ports: { clock: () => 7 } },
    );
    await t.send('Go');
    expect(seen).toMatchObject([
      ['begins', 'open', 'turn_test_1', 1, 7],
      ['ends', 'open', { envelope: { ok: true, result: null } }],
      ['begins', 'enter', 'turn_test_1', 1, 7],
      ['ends', 'enter', { envelope: { ok: false, error: { message: 'locked' } } }],
    ]);
  });

  it('keep the tool from running where begins throws or refuses, and leave its result where ends throws', async () => {
    let runs = 0;
    const attempts: string[] = [];
    const outcomes: unknown[] = [];
    const hooks: readonly CallHooks[] = [
      {
        begins: () => {
          throw new Error('no database');
        },
      },
      { begins: () => 'not now' },
      {
        ends: ({ tool }) => {
          attempts.push(tool.name);
          throw new Error('no database');
        },
      },
    ];
    for (const each of hooks) {
      const agent = agentOf(each, () => (runs += 1));
      const t = testConversation(agent, { model: script(calls('enter', {}), says('ok')) });
      await t.send('Go');
      outcomes.push(...resultsOf(t));
    }
    expect(outcomes).toEqual([
      {
        ok: false,
        error: {
          code: 'not_available',
          message:
            'Plugin "vault" failed in calls.begins, so the call does not run in this attempt: no database',
        },
      },
      { ok: false, error: { code: 'tool_error', message: 'not now' } },
      { ok: true, result: 1 },
    ]);
    expect(attempts).toEqual(['enter', 'enter', 'enter']);
    expect(runs).toBe(1);
  });
});

it('hooks that are no functions, and others than these, are errors of the definition', () => {
  expect(() => vaultWith({ before: () => undefined, ends: 7 } as never)).toThrow(
    /calls\.before.*unknown field[\s\S]*calls\.ends.*must be a function/,
  );
  expect(() => vaultWith('x' as never)).toThrow(/calls.*must be an object/);
});
