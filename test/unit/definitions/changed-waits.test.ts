/** A tool is changed while its call waits behind another, in the background, for an operator, or for the provider. */
import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineAgent } from '../../../src/define/define-agent.js';
import { defineTool } from '../../../src/define/define-tool.js';
import type { AnyTool } from '../../../src/define/tool/types.js';
import { callsAll, says, script } from '../../../src/model/scripted/scripted.js';
import { testConversation } from '../../../src/testing/test-conversation.js';
import { promise } from '../../support/promise.js';
import {
  ARGUMENTS,
  agentOf,
  BEFORE,
  expectViewsOfAll,
  INPUT_CHANGES,
  Runs,
  serverTool,
  waiting,
} from './deploys.js';

afterEach(expectViewsOfAll);

const CHANGED = { ok: false, error: { code: 'definition_changed' } };

const KINDS = {
  client: 'client_execution',
  external: 'external_execution',
  human: 'elicitation',
} as const;
type Outside = keyof typeof KINDS;

function toolOf(executor: string, input: z.ZodType, more: object = {}): AnyTool {
  const fields = { name: 'order', description: 'Orders.', executor, input };
  return defineTool({ ...fields, ...more } as never);
}

/** Two calls of one sequential step: of `first`, and then of `second`. */
async function behind(first: AnyTool, second: AnyTool) {
  const both = [first, second].map(({ name }) => ({ name, input: ARGUMENTS }));
  const model = script(callsAll(both), says('Done.'));
  const agent = (tools: readonly AnyTool[]) =>
    defineAgent({
      ...{ name: 'shop', model, instructions: 'Help.', tools },
      settings: { toolExecution: 'sequential' },
    });
  const t = testConversation(agent([first, second]));
  await t.send('Order both');
  return { t, deploy: (tools: readonly AnyTool[]) => t.deploy(agent(tools)) };
}

describe.each(INPUT_CHANGES)('when $what', ({ input, runs }) => {
  const parsed = input.safeParse(ARGUMENTS);

  it('a server call behind another is planned by the new code, and runs with what that makes of its arguments', {
    ...promise('G215'),
  }, async () => {
    const code = new Runs();
    const second = (schema: z.ZodType) =>
      serverTool(code, schema, { name: 'second', approval: 'auto' });
    const first = toolOf('human', z.object({}), { name: 'first' });
    const { t, deploy } = await behind(first, second(BEFORE));
    await deploy([first, second(input)]);
    await t.answer('first', 'yes');
    expect(code.inputs).toEqual(parsed.success ? [parsed.data] : []);
    expect(t.result('second')).toMatchObject(
      parsed.success ? { ok: true } : { error: { code: 'invalid_input' } },
    );
    t.expectNothingOpen();
  });

  it.each(Object.keys(KINDS) as Outside[])(
    'a call behind another is offered as the new code plans it, or fails before anybody sees it: %s',
    promise('G215'),
    async (executor) => {
      const second = (schema: z.ZodType) => toolOf(executor, schema, { name: 'second' });
      const first = toolOf('human', z.object({}), { name: 'first' });
      const { t, deploy } = await behind(first, second(BEFORE));
      await deploy([first, second(input)]);
      await t.answer('first', 'yes');
      if (parsed.success) {
        expect(t.snapshot.pending).toMatchObject([
          { name: 'second', kind: KINDS[executor], prompt: parsed.data },
        ]);
        await t.answer('second', 'fetched');
        expect(t.result('second')).toEqual({ ok: true, result: 'fetched' });
      } else {
        expect(t.eventsOf('suspension')).toHaveLength(1);
        expect(t.result('second')).toMatchObject({ error: { code: 'invalid_input' } });
      }
      t.expectNothingOpen();
    },
  );

  it('the approved first call of a sequential step runs with arguments that mean the same, or not at all', {
    ...promise('G215'),
  }, async () => {
    const code = new Runs();
    const last = toolOf('human', z.object({}), { name: 'last' });
    const { t, deploy } = await behind(serverTool(code, BEFORE), last);
    await deploy([serverTool(code, input), last]);
    await t.approve('order');
    expect(code.inputs).toEqual(runs ? [ARGUMENTS] : []);
    expect(t.result('order')).toMatchObject(runs ? { ok: true } : CHANGED);
    expect(t.snapshot.pending).toMatchObject([{ name: 'last' }]);
  });

  it.each(['by its tool', 'by a message'])(
    'a server call that was detached %s and approved after it runs with arguments that mean the same, or not at all',
    promise('G215'),
    async (by) => {
      const code = new Runs();
      const mode = by === 'by its tool' ? { mode: 'detach' } : {};
      const t = await waiting([serverTool(code, BEFORE, mode)]);
      if (by === 'by a message') await t.send('And now?');
      expect(t.snapshot.pending).toMatchObject([{ kind: 'approval', detached: true }]);
      await t.deploy(agentOf([serverTool(code, input, mode)]));
      await t.approve('order');
      expect(code.inputs).toEqual(runs ? [ARGUMENTS] : []);
      expect(t.eventsOf('inbox_event')).toMatchObject([
        { kind: 'tool_result', result: { envelope: runs ? { ok: true } : CHANGED } },
      ]);
      t.expectNothingOpen();
    },
  );

  it.each(['client', 'external'] as const)(
    'a detached call of another executor that was approved after it is offered with the same arguments, or ends: %s',
    promise('G215'),
    async (executor) => {
      const more = { mode: 'detach', approval: 'required' };
      const t = await waiting([toolOf(executor, BEFORE, more)]);
      await t.deploy(agentOf([toolOf(executor, input, more)]));
      await t.approve('order');
      if (runs) {
        expect(t.snapshot.pending).toMatchObject([{ kind: KINDS[executor], prompt: ARGUMENTS }]);
        await t.answer('order', 'fetched');
      }
      expect(t.eventsOf('inbox_event')).toMatchObject([
        { result: { envelope: runs ? { ok: true, result: 'fetched' } : CHANGED } },
      ]);
      t.expectNothingOpen();
    },
  );

  it.each(['await', 'detach'])(
    'a lost call that is held for an operator keeps the arguments of its run, and ends with what the operator found: mode %s',
    promise('G216'),
    async (mode) => {
      const code = new Runs();
      const held = { approval: 'auto', effects: 'once', onOutcomeUnknown: 'hold', mode };
      const t = testConversation(agentOf([serverTool(code, BEFORE, held)]));
      t.loseRuns('order');
      await t.send('Order it');
      const [wait] = t.snapshot.pending;
      expect(wait).toMatchObject({ kind: 'outcome', prompt: ARGUMENTS });
      await t.deploy(agentOf([serverTool(code, input, held)]));
      t.rollOver();
      expect(t.snapshot.pending).toEqual([wait]);
      expect((await t.resolve('order', { type: 'outcome', value: 'found' })).verdict).toBe(
        'accepted',
      );
      expect(code.inputs).toEqual([ARGUMENTS]);
      const envelope = { ok: true, result: 'found' };
      if (mode === 'await') expect(t.result('order')).toEqual(envelope);
      else expect(t.eventsOf('inbox_event')).toMatchObject([{ result: { envelope } }]);
      t.expectNothingOpen();
    },
  );

  it('a call that a remembered decision approves is planned by the new code, and runs with what that makes of it', async () => {
    const code = new Runs();
    const model = script(
      callsAll([{ name: 'order', input: ARGUMENTS }]),
      says('Done.'),
      callsAll([{ name: 'order', input: ARGUMENTS }]),
      says('Again.'),
    );
    const t = testConversation(agentOf([serverTool(code, BEFORE)], model));
    await t.send('Order it');
    await t.approve('order', { remember: { for: 'conversation' } });
    await t.deploy(agentOf([serverTool(code, input)], model));
    await t.send('Once more');
    expect(code.inputs).toEqual(parsed.success ? [ARGUMENTS, parsed.data] : [ARGUMENTS]);
  });
});

describe('a call that needs an approval for its provider', () => {
  const MERGE = { server: 'gh', tool: 'merge', arguments: ARGUMENTS };
  const hosted = (provider: object = {}): AnyTool =>
    defineTool({
      ...{ name: 'order', executor: 'provider' },
      provider: { type: 'mcp', server_label: 'gh', server_url: 'https://a.example', ...provider },
    } as never);

  async function approvedAfter(after: readonly AnyTool[]) {
    const model = script(
      callsAll([{ name: 'order', input: MERGE, id: 'mcpr_1', hosted: true }]),
      says('Done.'),
    );
    const t = testConversation(agentOf([hosted()], model));
    await t.send('Merge it');
    await t.deploy(agentOf(after, model));
    await t.approve('mcpr_1');
    t.expectNothingOpen();
    return { t, seen: model.requests[1]?.messages.at(-1)?.parts };
  }

  it.each([
    ['nothing', {}],
    ['its address', { server_url: 'https://b.example' }],
    ['its list of tools', { allowed_tools: ['close'] }],
  ])('is approved as before when %s has changed: the provider judges', async (_what, provider) => {
    const { t, seen } = await approvedAfter([hosted(provider)]);
    expect(t.result('mcpr_1')).toEqual({ ok: true, result: { success: true, args: MERGE } });
    expect(seen).toMatchObject([{ toolCallId: 'mcpr_1', envelope: { ok: true } }]);
  });

  it('is not approved any more when its tool is gone, and the model learns why', {
    ...promise('G222'),
  }, async () => {
    const { t, seen } = await approvedAfter([]);
    const gone = { error: { code: 'not_available', message: 'Tool "order" no longer available' } };
    expect(t.result('mcpr_1')).toMatchObject(gone);
    expect(seen).toMatchObject([{ toolCallId: 'mcpr_1', envelope: gone }]);
  });

  it.each(['server', 'internal', ...Object.keys(KINDS)])(
    'is not approved any more when its tool is a %s tool now, and that does not run',
    promise('G215'),
    async (executor) => {
      const code = new Runs();
      const now = executor === 'server' ? { run: code.of(z.unknown()) } : {};
      const { t } = await approvedAfter([toolOf(executor, z.object({}), now)]);
      expect([t.result('mcpr_1'), code.inputs]).toMatchObject([CHANGED, []]);
    },
  );

  it('takes the place of no other call: an internal one that its provider runs now ends', {
    ...promise('G215'),
  }, async () => {
    const t = await waiting([toolOf('internal', BEFORE, { approval: 'required' })]);
    await t.deploy(agentOf([hosted()]));
    await t.approve('order');
    expect(t.result('order')).toMatchObject(CHANGED);
  });
});
