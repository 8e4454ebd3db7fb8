/** Conversations that agents pass on to each other, on the real core. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type AnyAgent, defineAgent, defineTool, handoffTool } from '../../../src/index.js';
import { calls, callsAll, says, scriptedBy, testConversation } from '../../../src/testing/index.js';
import { promise } from '../../support/promise.js';

const refund = (by: string) =>
  defineTool({
    name: 'pay.refund',
    description: 'Refunds.',
    input: z.object({ order: z.string() }),
    approval: 'required',
    run: ({ order }, ctx) => `${order} by ${ctx.agent}, ${by}`,
  });

type Model = ReturnType<typeof scriptedBy>;

/** Triage passes on to billing, which passes back. */
function pair(triageModel: Model, billingModel: Model) {
  const billing: AnyAgent = defineAgent({
    name: 'billing',
    model: billingModel,
    instructions: 'You are billing.',
    tools: [
      refund('billing'),
      handoffTool((): AnyAgent => triage, { name: 'to.triage', description: 'Passes back.' }),
    ],
  });
  const triage = defineAgent({
    name: 'triage',
    model: triageModel,
    instructions: 'You are triage.',
    tools: [
      refund('triage'),
      handoffTool(billing, { name: 'to.billing', description: 'Passes on.' }),
      handoffTool(billing, { name: 'to.other', description: 'Passes on.' }),
    ],
  });
  return triage;
}

/** Plays by the steps of the turn. */
const passing = (name = 'to.billing') =>
  scriptedBy(({ messages }) =>
    messages.at(-1)?.role === 'tool' ? says('triage again') : calls(name, { note: 'refund a7' }),
  );

describe('a hand-off', () => {
  it(
    'gives the next step to the other agent: instructions, tools and model',
    promise('G318'),
    async () => {
      const seen: (readonly string[])[] = [];
      const billing = scriptedBy(({ system, tools, messages }) => {
        seen.push([system, ...tools.map(({ name }) => name)]);
        return messages.at(-1)?.role === 'tool' ? says('billing here') : says('billing still here');
      });
      const t = testConversation(pair(passing(), billing));
      await t.send('money back');
      expect(t.text).toBe('billing here');
      expect(t.snapshot.agent).toBe('billing');
      expect(t.eventsOf('agent_changed')).toMatchObject([{ agent: 'billing', previous: 'triage' }]);
      expect(t.result('to.billing')).toEqual({
        ok: true,
        result: { success: true, args: { note: 'refund a7' } },
      });
      expect(seen[0]?.[0]).toContain('You are billing.');
      expect(seen[0]?.slice(1)).toEqual(['pay.refund', 'to.triage']);
      t.rollOver();
      await t.send('thanks');
      expect(t.text).toBe('billing still here');
    },
  );

  it('leaves calls that wait to the agent that made them', promise('G318'), async () => {
    const both = callsAll([
      { name: 'pay.refund', input: { order: 'a7' } },
      { name: 'to.billing', input: { note: 'x' } },
    ]);
    const t = testConversation(
      pair(
        scriptedBy(() => both),
        scriptedBy(() => says('billing here')),
      ),
    );
    await t.send('money back');
    expect(t.snapshot.agent).toBe('billing');
    expect(t.pending).toMatchObject([{ name: 'pay.refund', agent: 'triage' }]);
    t.rollOver();
    await t.approve('pay.refund');
    expect(t.result('pay.refund')).toMatchObject({ result: 'a7 by triage, triage' });
    expect(t.text).toBe('billing here');
  });

  it('happens once in a step: the second is an error', promise('G319'), async () => {
    const both = callsAll(
      ['to.billing', 'to.other'].map((name) => ({ name, input: { note: 'x' } })),
    );
    const t = testConversation(
      pair(
        scriptedBy(() => both),
        scriptedBy(() => says('billing here')),
      ),
    );
    await t.send('go');
    expect(t.eventsOf('agent_changed')).toHaveLength(1);
    expect(t.result('to.other')).toMatchObject({ ok: false, error: { code: 'not_available' } });
  });

  it(
    'may go back in a later step, and messages may name either agent',
    promise('G318'),
    async () => {
      const back = scriptedBy(() => calls('to.triage', { note: 'not mine' }));
      const t = testConversation(pair(passing(), back));
      await t.send('go');
      expect(t.eventsOf('agent_changed').map(({ agent }) => agent)).toEqual(['billing', 'triage']);
      expect(t.text).toBe('triage again');
    },
  );

  it('that is denied changes nothing', promise('G319'), async () => {
    const billing = defineAgent({
      name: 'billing',
      model: scriptedBy(() => says('b')),
      instructions: 'x',
    });
    const gated = handoffTool(billing, {
      name: 'to.billing',
      description: 'x',
      approval: 'required',
    });
    const t = testConversation(
      defineAgent({ name: 'triage', model: passing(), instructions: 'x', tools: [gated] }),
    );
    await t.send('go');
    await t.deny('to.billing');
    expect(t.snapshot.agent).toBe('triage');
    expect(t.eventsOf('agent_changed')).toEqual([]);
    expect(t.text).toBe('triage again');
  });

  it('names the field and the rule of a bad definition', () => {
    const agent = defineAgent({ name: 'a', model: passing(), instructions: 'x' });
    const of = (given: unknown, spec: object) => () =>
      handoffTool(given as never, { name: 'to.a', description: 'x', ...spec });
    expect(of('a', {})).toThrow('agent: must come from defineAgent');
    expect(of(agent, { mode: 'detach' })).toThrow('mode: unknown field');
    expect(() =>
      handoffTool((() => 7) as never, { name: 'x', description: 'x' }).handoff?.agent(),
    ).toThrow('the function must return an agent');
  });
});
