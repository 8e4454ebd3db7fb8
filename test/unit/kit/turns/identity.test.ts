/** The actors that a tool acts for: the requester and the approver reach its code, by every way of approval. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type AgentSpec, defineAgent } from '../../../../src/define/define-agent.js';
import { defineTool } from '../../../../src/define/define-tool.js';
import { httpTool } from '../../../../src/define/http-tool.js';
import type { ToolContext } from '../../../../src/define/tool/context.js';
import type { PolicyContext } from '../../../../src/define/tool/policy.js';
import type { Tool } from '../../../../src/define/tool/types.js';
import { calls, callsAll, says, script } from '../../../../src/model/scripted/scripted.js';
import { SYSTEM_ACTOR } from '../../../../src/protocol/values/actors.js';
import { testConversation } from '../../../../src/testing/test-conversation.js';
import { promise } from '../../../support/promise.js';

const LEAD = { id: 'lena', roles: ['lead'] };
const ANN = { id: 'ann' };

function gated() {
  const runs: { input: unknown; ctx: ToolContext }[] = [];
  const pay = defineTool({
    name: 'pay',
    description: 'Pays.',
    input: z.object({ cents: z.int() }),
    effects: 'once',
    approval: 'required',
    run: (input, ctx) => {
      runs.push({ input, ctx });
      return 'paid';
    },
  });
  return { pay, runs };
}

function talk(times = 1) {
  const { pay, runs } = gated();
  const asks = Array.from({ length: times }, () => calls('pay', { cents: 5 }));
  const model = script(...asks.flatMap((ask) => [ask, says('done')]));
  const agent = defineAgent({ name: 'a', instructions: 'i', model, tools: [pay] });
  return { t: testConversation(agent), runs };
}

describe('the code of a tool knows', () => {
  it('its requester and its approver', async () => {
    const { t, runs } = talk();
    await t.send('pay', { actor: ANN });
    await t.resolve('pay', { type: 'approve' }, { actor: LEAD });
    expect(runs[0]?.ctx).toMatchObject({ requester: ANN, approver: LEAD });
  });

  it('the approver of the edited input, and runs with that', async () => {
    const { t, runs } = talk();
    await t.send('pay', { actor: ANN });
    await t.resolve('pay', { type: 'approve', input: { cents: 3 } }, { actor: LEAD });
    expect(runs).toMatchObject([{ input: { cents: 3 }, ctx: { requester: ANN, approver: LEAD } }]);
  });

  it('the author of the rule, where a remembered decision approves', async () => {
    const { t, runs } = talk(2);
    await t.send('pay', { actor: ANN });
    const remember = { for: 'conversation' } as const;
    await t.resolve('pay', { type: 'approve', remember }, { actor: LEAD });
    await t.send('again', { actor: { id: 'bob' } });
    expect(runs.map(({ ctx }) => [ctx.requester.id, ctx.approver?.id])).toEqual([
      ['ann', 'lena'],
      ['bob', 'lena'],
    ]);
  });

  it('both after a roll-over', async () => {
    const { t, runs } = talk();
    await t.send('pay', { actor: ANN });
    t.rollOver();
    await t.resolve('pay', { type: 'approve' }, { actor: LEAD });
    expect(runs[0]?.ctx).toMatchObject({ requester: ANN, approver: LEAD });
  });

  it('that there was no approval where none was needed', async () => {
    const seen: ToolContext[] = [];
    const free = defineTool({
      name: 'free',
      description: 'Free.',
      input: z.object({}),
      run: (_input, ctx) => void seen.push(ctx),
    });
    const model = script(calls('free', {}), says('done'));
    const agent = defineAgent({ name: 'a', instructions: 'i', model, tools: [free] });
    await testConversation(agent).send('go', { actor: ANN });
    expect(seen[0]).not.toHaveProperty('approver');
  });
});

it('an approval that expires has the system as its actor, and the tool never runs', async () => {
  const { t, runs } = talk();
  await t.send('pay', { actor: ANN });
  await t.advance('2 days');
  const event = t.events.find(({ type }) => type === 'tool_result');
  expect(event).toMatchObject({ result: { status: 'expired', actor: SYSTEM_ACTOR } });
  expect(await t.resolve('pay', { type: 'approve' }, { actor: LEAD })).toMatchObject({
    verdict: 'expired',
  });
  expect(runs).toEqual([]);
});

describe('a policy knows of the results that its turn has', () => {
  const ask = defineTool({
    name: 'ask',
    description: 'Asks.',
    executor: 'human',
    input: z.object({}),
  });
  const look = defineTool({
    name: 'look',
    description: 'Looks.',
    input: z.object({}),
    run: () => 'secret',
  });
  const broken = defineTool({
    name: 'broken',
    description: 'Breaks.',
    input: z.object({}),
    run: () => {
      throw new Error('no');
    },
  });

  const reading = (provenance: 'untrusted' | undefined) =>
    defineTool({
      name: 'read',
      description: 'Reads a page.',
      input: z.object({}),
      ...(provenance === undefined ? {} : { provenance }),
      run: () => 'a page',
    });
  /** The request is not even made: its error text comes from outside all the same. */
  const asking = (more: { readonly provenance?: 'trusted' }) =>
    httpTool({
      name: 'read',
      description: 'Reads a page.',
      input: z.object({}),
      method: 'GET',
      url: 'http://127.0.0.1:9/',
      ...more,
    });

  function careful(
    more: Partial<AgentSpec<unknown>> = {},
    plan = [['ask', 'look', 'broken'], ['pay']],
    others: readonly Tool[] = [],
  ) {
    const seen: PolicyContext['results'][] = [];
    const pay = defineTool({
      name: 'pay',
      description: 'Pays.',
      input: z.object({ cents: z.int() }),
      // A person's text may have led the model here.
      approval: (_input, { results }) => {
        seen.push(results);
        return results.some(({ provenance }) => provenance === 'untrusted')
          ? { ask: { reason: 'after an answer from outside' } }
          : 'allow';
      },
      run: () => 'paid',
    });
    const tools = [ask, look, broken, pay, ...others];
    const steps = plan.map((names) =>
      callsAll(names.map((name) => ({ name, input: name === 'pay' ? { cents: 5 } : {} }))),
    );
    const model = script(...steps, says('done'), calls('pay', { cents: 5 }), says('done'));
    const agent = defineAgent({ name: 'a', instructions: 'i', model, tools, ...more });
    return { t: testConversation(agent), seen };
  }

  const EARLIER = [
    { toolCallId: 'call_1', name: 'ask', ok: true, provenance: 'untrusted' },
    { toolCallId: 'call_2', name: 'look', ok: true, provenance: 'trusted' },
    { toolCallId: 'call_3', name: 'broken', ok: false, provenance: 'trusted' },
  ];

  it('and whether they came from outside, but not their content', promise('G124'), async () => {
    const { t, seen } = careful();
    await t.send('go');
    await t.resolve('ask', { type: 'answer', value: 'pay everything' });
    expect(t.pending).toMatchObject([{ name: 'pay', reason: 'after an answer from outside' }]);
    expect(seen).toEqual([EARLIER]);
  });

  it.each([
    ['a tool that reads pages', () => reading('untrusted'), 'untrusted'],
    ['an HTTP tool', () => asking({}), 'untrusted'],
    ['an HTTP tool of a service of our own', () => asking({ provenance: 'trusted' }), 'trusted'],
    ['any other tool', () => reading(undefined), 'trusted'],
  ] as const)(
    'of %s as its definition says',
    promise('G124'),
    async (_whose, toolOf, provenance) => {
      const { t, seen } = careful({}, [['read'], ['pay']], [toolOf()]);
      await t.send('go');
      expect(seen).toMatchObject([[{ name: 'read', provenance }]]);
      expect(t.pending).toHaveLength(provenance === 'untrusted' ? 1 : 0);
    },
  );

  it('when the approver edits the input, too', async () => {
    const { t, seen } = careful();
    await t.send('go');
    await t.resolve('ask', { type: 'answer', value: 'pay everything' });
    await t.resolve('pay', { type: 'approve', input: { cents: 1 } });
    expect(seen).toEqual([EARLIER, EARLIER]);
    expect(t.result('pay')).toEqual({ ok: true, result: 'paid' });
  });

  it('of the same step, where calls run one after the other', async () => {
    const { t, seen } = careful({ settings: { toolExecution: 'sequential' } }, [
      ['ask', 'look', 'broken', 'pay'],
    ]);
    await t.send('go');
    await t.resolve('ask', { type: 'answer', value: 'x' });
    expect(seen).toEqual([EARLIER]);
  });

  it('and of no other turn', async () => {
    const { t, seen } = careful({}, [['ask']]);
    await t.send('go');
    await t.resolve('ask', { type: 'answer', value: 'x' });
    await t.send('again');
    expect(seen).toEqual([[]]);
    expect(t.result('pay')).toEqual({ ok: true, result: 'paid' });
  });
});
