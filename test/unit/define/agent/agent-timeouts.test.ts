/** Timeouts that an agent sets for all its calls: below a tool's own, above the engine's. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  type AgentSettingsSpec,
  type AnyTool,
  DefinitionError,
  defineAgent,
  defineTool,
} from '../../../../src/index.js';
import { callsAll, says, script } from '../../../../src/model/scripted/scripted.js';
import { testConversation } from '../../../../src/testing/test-conversation.js';
import { planCalls } from '../../../../src/tools/plan/plan.js';
import { promise } from '../../../support/promise.js';
import { policyMeans } from '../../../support/schedules/policy-deps.js';

const MINUTE = 60_000;
const base = { description: 'Does it.', input: z.object({}) };
const pay = defineTool({ ...base, name: 'pay', approval: 'required', run: () => 'paid' });
const ask = defineTool({ ...base, name: 'ask', executor: 'human' });
const cart = defineTool({ ...base, name: 'cart', executor: 'client' });
const find = defineTool({ ...base, name: 'find', executor: 'external' });
const order = defineTool({ ...base, name: 'order', executor: 'external', mode: 'detach' });
const TOOLS = [pay, ask, cart, find, order];

const agentOf = (timeouts: AgentSettingsSpec['timeouts'], tools: readonly AnyTool[] = TOOLS) =>
  defineAgent({
    name: 'shop',
    instructions: 'Help.',
    model: script(says('x')),
    tools: tools as readonly (typeof pay)[],
    ...(timeouts === undefined ? {} : { settings: { timeouts } }),
  });

async function clocksOf(
  timeouts: AgentSettingsSpec['timeouts'],
  tools: readonly AnyTool[] = TOOLS,
): Promise<readonly object[]> {
  const agent = agentOf(timeouts, tools);
  const asked = tools.map(({ name }) => ({ id: name, name, argumentsJson: '{}' }));
  const planned = await planCalls({ agent, calls: asked, deps: policyMeans });
  return planned.map(({ plan }) => plan.timeouts);
}

describe('the timeouts of an agent', () => {
  const own = {
    approval: '1 hour',
    human: '2 hours',
    client: '5 minutes',
    claim: '1 minute',
    external: '3 minutes',
    detached: '1 day',
    run: '2 minutes',
  } as const;

  it('are those of calls whose tools set none', promise('G75', 'A44'), async () => {
    const [gated, human, client, external, detached] = await clocksOf(own);
    expect(gated).toEqual({ approvalMs: 60 * MINUTE, answerMs: 120 * MINUTE, runMs: 2 * MINUTE });
    expect(human).toMatchObject({ answerMs: 120 * MINUTE });
    expect(client).toMatchObject({ answerMs: 5 * MINUTE, claimMs: MINUTE });
    expect(external).toMatchObject({ answerMs: 3 * MINUTE });
    expect(detached).toMatchObject({ approvalMs: 1_440 * MINUTE, answerMs: 1_440 * MINUTE });
    expect(detached).not.toHaveProperty('claimMs');
  });

  it('leave those of a tool as they are, and those that are set nowhere to the engine', {
    ...promise('G75'),
  }, async () => {
    const timeouts = {
      approval: '3 days',
      answer: '1 minute',
      claim: '5s',
      total: '4 days',
    } as const;
    const cautious = defineTool({ ...base, name: 'c', executor: 'client', timeouts });
    const [clocks] = await clocksOf(own, [cautious]);
    expect(clocks).toEqual({
      approvalMs: 4_320 * MINUTE,
      answerMs: MINUTE,
      claimMs: 5_000,
      totalMs: 5_760 * MINUTE,
      runMs: 2 * MINUTE,
    });
    expect(await clocksOf({ human: '1 hour' }, [cart, find, order])).toEqual(
      await clocksOf(undefined, [cart, find, order]),
    );
    // A wait that is shorter than the claim timeout ends both.
    expect(await clocksOf({ client: '2s' }, [cart])).toMatchObject([{ claimMs: 2_000 }]);
  });

  it('end its waits', promise('G75'), async () => {
    const t = testConversation(agentOf({ approval: '1 hour' }), {
      model: script(
        callsAll([
          { name: 'pay', input: {} },
          { name: 'ask', input: {} },
        ]),
        says('Nobody approved.'),
      ),
    });
    await t.send('Pay');
    await t.advance('1 hour');
    expect(t.calls('pay')).toMatchObject([{ status: 'expired' }]);
    expect(t.pending).toMatchObject([{ name: 'ask', deadline: '2026-01-02T00:00:00.000Z' }]);
  });

  it('hold for approvals that a provider asks for, too', async () => {
    const hosted = defineTool({ name: 'docs', executor: 'provider', provider: { type: 'mcp' } });
    const model = script(
      { type: 'answer', calls: [{ name: 'docs', input: { tool: 'find' }, hosted: true }] },
      says('x'),
    );
    const t = testConversation(agentOf({ approval: '1 hour' }, [hosted]), { model });
    await t.send('Find it');
    expect(t.pending).toMatchObject([{ name: 'docs', deadline: '2026-01-01T01:00:00.000Z' }]);
  });

  it('hold for tools that are known only when their server has listed them', async () => {
    const agent = agentOf({ run: '5 minutes' }, []);
    const listed = defineTool({ ...base, name: 'listed', run: () => 1 });
    const planned = await planCalls({
      agent: { ...agent, tools: [listed] },
      calls: [{ id: 'a', name: 'listed', argumentsJson: '{}' }],
      deps: policyMeans,
    });
    expect(planned[0]?.plan.timeouts.runMs).toBe(5 * MINUTE);
  });

  it('are refused with every fault: their own, and their consequences for the tools', {
    ...promise('G75'),
  }, () => {
    const slow = defineTool({ ...base, name: 's', executor: 'client', timeouts: { claim: '1m' } });
    const warns = defineTool({ ...base, name: 'w', executor: 'human', warnBefore: '2 hours' });
    const faults = (timeouts: unknown, ...tools: readonly AnyTool[]): unknown => {
      try {
        agentOf(timeouts as never, tools);
        return undefined;
      } catch (error) {
        return error instanceof DefinitionError
          ? error.problems.map(({ field, rule }) => [field, rule.slice(0, 21)])
          : error;
      }
    };
    expect(faults('soon')).toEqual([['settings.timeouts', 'must be an object, go']]);
    expect(faults({ approval: 'soon', answer: 5, run: '2 days', human: 0 })).toEqual([
      ['settings.timeouts.answer', 'unknown field; known '],
      ['settings.timeouts.approval', 'must be milliseconds '],
      ['settings.timeouts.human', 'must be at least 1 ms'],
      ['settings.timeouts.run', 'must be at most 1 day'],
    ]);
    expect(faults({ client: '30s', human: '1 hour' }, slow, warns)).toEqual([
      ['tools[0].timeouts.claim', 'must be at most timeo'],
      ['tools[1].warnBefore', 'must be shorter than '],
    ]);
    expect(faults({ approval: '1 hour' }, slow, warns)).toBeUndefined();
  });
});
