/** Plugins around model calls: `setup`, `ready` and `prepare`, and a turn in which one of them fails. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { ResultOfTurn } from '../../../../src/define/plugin/types.js';
import { SILENT_LOGGER } from '../../../../src/define/tool/context.js';
import { defineAgent, definePlugin, defineTool, type Plugin } from '../../../../src/index.js';
import type { Message } from '../../../../src/protocol/conversation/messages.js';
import { MAX_RESULT_VALUES_BYTES } from '../../../../src/protocol/limits/service-limits.js';
import { calls, callsAll, says, script, testConversation } from '../../../../src/testing/index.js';
import { startPlugins } from '../../../../src/tools/plugins/lifecycle.js';
import { prepareAgent } from '../../../../src/tools/plugins/prepare.js';
import { resultsWithValues } from '../../../../src/tools/plugins/result-values.js';
import { promise } from '../../../support/promise.js';
import { agentWith, offeredIn, watched } from './watched.js';

const secret = defineTool({
  name: 'vault.open',
  description: 'Open',
  input: z.object({}),
  run: () => 'opened',
});
const unlock = defineTool({
  name: 'vault.unlock',
  description: 'Unlock',
  input: z.object({}),
  run: (_, ctx) => {
    ctx.patchState('vault', { op: 'set', path: '/isOpen', value: true });
    return null;
  },
});
const vault = definePlugin({
  id: 'vault',
  state: z.object({ isOpen: z.boolean().default(false), looks: z.number().default(0) }),
  prepare: ({ state, tools, context, turn }) => {
    const { isOpen } = state.getState(vault);
    if (!isOpen) tools.hide('vault.open');
    context.add(`The vault is ${isOpen ? 'open' : 'closed'} in step ${turn.step}.`);
    state.patchState(vault, { op: 'increment', path: '/looks', by: 1 });
  },
  tools: [unlock, secret],
});

describe('prepare', () => {
  it(
    'decides before each model call, by the state, which tools and texts the model gets',
    promise('C20', 'C34'),
    async () => {
      const { model, requests } = watched(
        calls('vault.unlock', {}),
        calls('vault.open', {}),
        says('ok'),
      );
      const t = testConversation(agentWith(model, [vault]));
      await t.send('Open the vault');
      expect(offeredIn(requests)).toEqual([
        ['vault.unlock'],
        ['vault.unlock', 'vault.open'],
        ['vault.unlock', 'vault.open'],
      ]);
      expect(requests.map(({ messages }) => messages.at(-1)?.parts)).toEqual(
        ['closed in step 1', 'open in step 2', 'open in step 3'].map((text) => [
          { type: 'text', text: `[Context, not said by the user]\nThe vault is ${text}.` },
        ]),
      );
      expect(t.result('vault.open')).toEqual({ ok: true, result: 'opened' });
      expect(t.text).toBe('ok');
    },
  );

  it('gets the results of the turn with their values, as the model reads them', {
    ...promise('C20'),
  }, async () => {
    const seen: (readonly ResultOfTurn[])[] = [];
    const look = definePlugin({
      id: 'look',
      prepare: ({ results }) => {
        seen.push(structuredClone(results));
        // Nothing else has the value that a plugin changes.
        for (const { result } of results) if (Array.isArray(result)) result.length = 0;
      },
      tools: [
        defineTool({
          ...{ name: 'order.find', description: 'Find' },
          input: z.object({ id: z.number() }),
          run: ({ id }) => {
            if (id > 1) throw new Error(`no order ${id}`);
            return [{ id }];
          },
        }),
      ],
    });
    const { model, requests } = watched(
      calls('order.find', { id: 1 }),
      calls('order.find', { id: 2 }),
      says('ok'),
    );
    const later: (readonly ResultOfTurn[])[] = [];
    const lookAgain = definePlugin({
      id: 'look_again',
      prepare: ({ results }) => {
        later.push(results);
      },
    });
    const t = testConversation(agentWith(model, [look, lookAgain]));
    await t.send('Find');
    expect(later).toEqual(seen);
    const found = { toolCallId: 'call_1', name: 'order.find', ok: true, provenance: 'trusted' };
    expect(seen).toEqual([
      [],
      [{ ...found, result: [{ id: 1 }] }],
      [
        { ...found, result: [{ id: 1 }] },
        expect.objectContaining({
          ok: false,
          error: { code: 'tool_error', message: expect.stringContaining('no order 2') as string },
        }),
      ],
    ]);
    expect(JSON.stringify(requests.at(-1)?.messages)).toContain('"result":[{"id":1}]');
  });

  it('gets the values of the newest results, as many as there is room for', () => {
    const message = (nth: number, bytes: number): Message => ({
      ...{ role: 'tool', id: `m-${nth}`, turnId: 't', step: nth },
      parts: [
        {
          ...{ type: 'tool_result', toolCallId: `call_${nth}`, name: 'read' },
          envelope: { ok: true, result: 'x'.repeat(bytes) },
        },
      ],
    });
    // Two quotes around each: both and the last one do not fit, two do to the byte.
    const large = MAX_RESULT_VALUES_BYTES / 2 - 2;
    const messages = [message(1, 10), message(2, large), message(3, large), message(4, 10)];
    const results = resultsWithValues(messages, 't');
    expect(results.map(({ toolCallId }) => toolCallId)).toEqual(
      [1, 2, 3, 4].map((nth) => `call_${nth}`),
    );
    expect(results.map(({ result }) => typeof result)).toEqual([
      ...['undefined', 'undefined', 'string', 'string'],
    ]);
    const [, ...fitting] = resultsWithValues(messages.slice(0, 3), 't');
    expect(fitting.map(({ result }) => typeof result)).toEqual(['string', 'string']);
    expect(resultsWithValues(messages, 'another')).toEqual([]);
  });

  it('writes its changes into the log with the model call', async () => {
    const { model } = watched(says('ok'));
    const t = testConversation(agentWith(model, [vault]));
    await t.send('Hi');
    const at = t.eventTypes.indexOf('model_call');
    expect(t.events[at + 1]).toMatchObject({
      type: 'state_patch',
      plugin: 'vault',
      changes: [{ op: 'increment', path: '/looks', by: 1 }],
    });
    expect(t.events[at + 1]).not.toHaveProperty('toolCallId');
  });

  it('leaves its texts out of the transcript', async () => {
    const { model, requests } = watched(says('ok'), says('ok'));
    const t = testConversation(agentWith(model, [vault]));
    await t.send('Hi');
    await t.send('Hi again');
    const texts = JSON.stringify(requests[1]?.messages).match(/The vault is/g);
    expect(texts).toHaveLength(1);
  });

  it('makes a call of a hidden tool one of an unknown tool', async () => {
    const { model } = watched(calls('vault.open', {}), says('ok'));
    const t = testConversation(agentWith(model, [vault]));
    await t.send('Open');
    expect(t.result('vault.open')).toMatchObject({
      error: {
        code: 'unknown_tool',
        message: 'Tool "vault.open" not found. Available tools: vault.unlock',
      },
    });
  });

  it('hides a tool also from calls of a sequential step whose turn comes later', async () => {
    const { model } = watched(
      callsAll([
        { name: 'vault.look', input: {} },
        { name: 'vault.open', input: {} },
      ]),
      says('ok'),
    );
    const look = defineTool({
      name: 'vault.look',
      description: 'Look',
      input: z.object({}),
      run: () => null,
    });
    const t = testConversation(
      defineAgent({
        ...{ name: 'a', model, instructions: 'x', tools: [look], plugins: [vault] },
        settings: { toolExecution: 'sequential' },
      }),
    );
    await t.send('Open');
    expect(t.result('vault.open')).toMatchObject({ error: { code: 'unknown_tool' } });
  });

  it.each([
    ['more text than a request should carry', 'x'.repeat(65_537), /context of 65537 bytes/],
    ['no text', ' ', /context\.add: must be a non-empty text/],
  ])('fails when it adds %s', async (_title, text, message) => {
    const plugin = definePlugin({
      id: 'p',
      prepare: ({ context }) => {
        context.add(text);
      },
    });
    const t = testConversation(agentWith(watched(says('ok')).model, [plugin]));
    await t.send('Hi');
    expect(JSON.stringify(t.events.at(-1))).toMatch(message);
  });

  it('fails when it takes too long, and its signal fires', async () => {
    let isOver = false;
    const slow = definePlugin({
      id: 'slow',
      prepare: async ({ signal }) => {
        await new Promise((resolve) => {
          signal.addEventListener('abort', resolve);
        });
        isOver = true;
      },
    });
    const preparing = prepareAgent({
      ...{ agent: agentWith(script(), [slow]), states: {}, services: undefined as never },
      ...{ logger: SILENT_LOGGER, tenant: 't', conversationId: 'c', turnId: 'u', step: 1 },
      ...{ requester: { id: 'ann', verified: true, channel: 'api' }, results: () => [] },
      signal: new AbortController().signal,
      timeoutMs: 10,
    });
    await expect(preparing).rejects.toThrow(
      'Plugin "slow" failed in prepare, so the turn fails after the last attempt of its model call: no end within 10 ms',
    );
    expect(isOver).toBe(true);
  });

  it('gets the requester, the turn, the results and the services', async () => {
    let seen: object = {};
    const plugin = definePlugin<{ readonly word: string }>({
      id: 'p',
      config: { volume: 11 },
      prepare: ({ user, turn, results, services, config }) => {
        seen = { user, turn, results, services, config };
      },
    });
    const { model } = watched(calls('vault.unlock', {}), says('ok'));
    const agent = defineAgent<{ readonly word: string }>({
      ...{ name: 'a', model, instructions: 'x' },
      plugins: [vault, plugin],
    });
    const t = testConversation(agent, { services: { word: 'up' } });
    await t.send('Hi', { actor: { id: 'ann' } });
    expect(seen).toMatchObject({
      user: { id: 'ann' },
      turn: { step: 2 },
      results: [{ name: 'vault.unlock', ok: true }],
      services: { word: 'up' },
      config: { volume: 11 },
    });
  });

  it('runs in the order of the plugins, each on what those before it have left', async () => {
    const seen: unknown[] = [];
    const second = definePlugin({
      id: 'second',
      prepare: ({ state, tools }) => {
        seen.push(state.getState(vault).looks, tools.names);
      },
    });
    const { model } = watched(says('ok'));
    await testConversation(agentWith(model, [vault, second])).send('Hi');
    expect(seen).toEqual([1, ['vault.unlock']]);
  });

  it(
    'fails the turn with the names of plugin and function, and keeps the conversation',
    promise('G305'),
    async () => {
      let isBroken = true;
      const broken = definePlugin({
        id: 'broken',
        prepare: () => {
          if (isBroken) throw new Error('no database');
        },
      });
      const { model } = watched(says('ok'));
      const t = testConversation(agentWith(model, [broken]));
      await t.send('Hi');
      expect(t.events.at(-1)).toMatchObject({
        type: 'turn_ended',
        status: 'failed',
        error: {
          code: 'plugin_failed',
          message:
            'Plugin "broken" failed in prepare, so the turn fails after the last attempt of its model call: no database',
        },
      });
      isBroken = false;
      await t.send('Again');
      expect(t.text).toBe('ok');
    },
  );
});

describe('the life of plugins in a worker', () => {
  const noted: string[] = [];
  const plugin = (id: string, failing?: string) => {
    const note = (hook: string) => () => {
      noted.push(`${id} ${hook}`);
      if (hook === failing) throw new Error('broken');
    };
    return definePlugin({
      id,
      setup: note('setup'),
      ready: note('ready'),
      dispose: note('dispose'),
    });
  };
  const start = (plugins: readonly Plugin[]) => {
    noted.length = 0;
    const deps = { services: undefined as never, logger: SILENT_LOGGER };
    return startPlugins([agentWith(script(), plugins)], deps);
  };

  it('is setup of all, ready of all, and dispose in reverse order', async () => {
    const started = await start([plugin('a'), plugin('b')]);
    await started.dispose();
    await started.dispose();
    expect(noted).toEqual(['a setup', 'b setup', 'a ready', 'b ready', 'b dispose', 'a dispose']);
  });

  it('ends at a failure, whose error names plugin and function', async () => {
    await expect(start([plugin('a'), plugin('b', 'setup'), plugin('c')])).rejects.toThrow(
      'Plugin "b" failed in setup, so the worker does not start: broken',
    );
    expect(noted).toEqual(['a setup', 'b setup', 'b dispose', 'a dispose']);
    await expect(start([plugin('a', 'ready')])).rejects.toThrow(
      'Plugin "a" failed in ready, so the worker does not start: broken',
    );
  });

  it('goes on when dispose fails', async () => {
    const started = await start([plugin('a'), plugin('b', 'dispose')]);
    await started.dispose();
    expect(noted.slice(-2)).toEqual(['b dispose', 'a dispose']);
  });
});
