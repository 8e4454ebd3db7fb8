/**
 * Policies over calls: their decisions, the precedence of two, and that every failure leaves a call that does not
 * run.
 */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { AgentSpec } from '../../../src/define/define-agent.js';
import { defineAgent, manifestOf } from '../../../src/define/define-agent.js';
import type { AnyTool } from '../../../src/define/tool/types.js';
import { defineTool } from '../../../src/index.js';
import type { PlannedCall } from '../../../src/protocol/calls/plan.js';
import type { Audience } from '../../../src/protocol/values/audience.js';
import { planCalls } from '../../../src/tools/plan/plan.js';
import { joinAudiences } from '../../../src/tools/shared/join-audiences.js';
import { promise } from '../../support/promise.js';
import { policyMeans } from '../../support/schedules/policy-deps.js';

const model = { name: 'none', generate: () => Promise.reject(new Error('never')) };
type Policy = NonNullable<AgentSpec<unknown>['toolPolicy']>;

const refund = (approval: unknown): AnyTool =>
  defineTool({
    name: 'refund',
    description: 'Refunds.',
    input: z.object({ cents: z.int(), currency: z.string().default('EUR') }),
    effects: 'once',
    approval: approval as 'auto',
    run: () => null,
  });

async function planOf(
  tool: AnyTool,
  options: { toolPolicy?: unknown; timeoutMs?: number; args?: unknown } = {},
): Promise<PlannedCall> {
  const { toolPolicy, timeoutMs = 5_000, args = { cents: 5 } } = options;
  const policy = toolPolicy === undefined ? {} : { toolPolicy: toolPolicy as Policy };
  const agent = defineAgent({ name: 'a', model, instructions: 'Help.', tools: [tool], ...policy });
  const calls = [{ id: 'c1', name: tool.name, argumentsJson: JSON.stringify(args) }];
  const [planned] = await planCalls({ agent, calls, deps: { ...policyMeans, timeoutMs } });
  return planned!.plan;
}

describe('a policy of a tool', () => {
  it('is called once per call, with the validated input and the requester, and its decision is pinned', {
    ...promise('A10', 'C7', 'C24', 'C28'),
  }, async () => {
    const asked: unknown[] = [];
    const tool = refund((input: { cents: number }, ctx: object) => {
      asked.push(input, ctx);
      return Promise.resolve({
        ask: { reason: `${input.cents} cents`, audience: { roles: ['l'] } },
      });
    });
    const plan = await planOf(tool);
    expect(asked).toEqual([
      { cents: 5, currency: 'EUR' },
      {
        ...policyMeans,
        // The policy reads them by a function.
        states: undefined,
        getState: expect.any(Function) as unknown,
        toolCallId: 'c1',
        timeoutMs: undefined,
        logger: expect.anything() as unknown,
      },
    ]);
    expect(Object.isFrozen(asked[1])).toBe(true);
    expect(plan.approval).toEqual({ needed: true, reason: '5 cents', audience: { roles: ['l'] } });
    expect(plan).not.toHaveProperty('error');
  });

  it('may allow, or deny with a reason that the model reads', async () => {
    const tool = refund(({ cents }: { cents: number }) =>
      cents > 100 ? { deny: 'Too much' } : 'allow',
    );
    expect((await planOf(tool)).approval).toEqual({ needed: false });
    const denied = await planOf(tool, { args: { cents: 101 } });
    expect(denied.error).toEqual({ code: 'denied', message: 'Too much' });
    expect((await planOf(refund(() => ({ deny: ' ' })))).error?.message).toBe('Denied by a policy');
  });

  it('cannot change the input of the run', async () => {
    const tool = refund((input: { cents: number }) => {
      input.cents = 0;
      return 'allow';
    });
    expect((await planOf(tool)).input).toEqual({ cents: 5, currency: 'EUR' });
  });

  it('is not called for arguments that are invalid', promise('C37'), async () => {
    const tool = refund(() => {
      throw new Error('asked');
    });
    expect((await planOf(tool, { args: { cents: 'x' } })).error?.code).toBe('invalid_input');
  });

  const thrower = (): never => {
    throw new Error('secret-123');
  };
  const trap = {
    get deny(): never {
      return thrower();
    },
  };
  it.each([
    ['throws', thrower],
    ['rejects', () => Promise.reject(new Error('secret-123'))],
    ['rejects with nothing', () => Promise.reject(undefined as unknown as Error)],
    ['never decides', () => new Promise(() => undefined)],
    ['returns nothing', () => undefined],
    ['returns true', () => true],
    ['returns false', () => false],
    ['returns an unknown word', () => 'allowed'],
    ['returns null', () => null],
    ['returns a list', () => ['allow']],
    ['returns a function', () => () => 'allow'],
    ['returns a static gate', () => 'required'],
    ['returns nothing in particular', () => ({})],
    ['returns two decisions', () => ({ ask: {}, deny: 'no' })],
    ['returns an ask that is none', () => ({ ask: true })],
    ['returns a reason that is no text', () => ({ ask: { reason: 7 } })],
    ['returns an unknown wish', () => ({ ask: { quorum: 2 } })],
    ['returns an empty audience', () => ({ ask: { audience: { users: [] } } })],
    ['returns an audience of later', () => ({ ask: { audience: { also: [] } } })],
    ['returns a denial that is no text', () => ({ deny: true })],
    ['returns a trap', () => trap],
    ['returns a hostile promise', () => ({ then: thrower })],
  ])(
    'that %s leaves a call that does not run, and gives the model no details',
    promise('G65', 'S5', 'C28'),
    async (_t, policy) => {
      for (const options of [{}, { toolPolicy: policy }]) {
        const tool = refund('toolPolicy' in options ? 'auto' : policy);
        const plan = await planOf(tool, { ...options, timeoutMs: 20 });
        expect(plan.error).toEqual({
          code: 'policy_error',
          message: 'The policy for tool "refund" could not be evaluated; the tool did not run',
        });
        expect(JSON.stringify(plan)).not.toContain('secret');
      }
    },
  );
});

describe('a policy of the agent', () => {
  it('gets the tool and its input', async () => {
    const asked: unknown[] = [];
    await planOf(refund('auto'), {
      toolPolicy: (call: unknown) => {
        asked.push(call);
        return 'allow';
      },
    });
    const input = { cents: 5, currency: 'EUR' };
    expect(asked).toEqual([{ name: 'refund', executor: 'server', effects: 'once', input }]);
  });

  const ask = { ask: { reason: 'agent' } };
  it.each([
    ['auto', 'allow', { needed: false }],
    ['auto', ask, { needed: true, reason: 'agent' }],
    ['required', 'allow', { needed: true }],
    ['required', ask, { needed: true, reason: 'agent' }],
    [{ ask: { reason: 'tool' } }, ask, { needed: true, reason: 'tool; agent' }],
    [{ ask: { reason: 'agent' } }, ask, { needed: true, reason: 'agent' }],
    [() => 'allow', ask, { needed: true, reason: 'agent' }],
    [() => ({ ask: { reason: 'tool' } }), 'allow', { needed: true, reason: 'tool' }],
  ])('beside the gate %j and saying %j', async (gate, decision, approval) => {
    const plan = await planOf(refund(gate), { toolPolicy: () => decision });
    expect(plan.approval).toEqual(approval);
    expect(plan).not.toHaveProperty('error');
  });

  it('that denies wins over everything, also over a policy that fails; that fails wins over an allowance', {
    ...promise('G66'),
  }, async () => {
    const deny = { deny: 'not today' };
    for (const gate of ['auto', 'required', () => 'allow', () => 7]) {
      expect((await planOf(refund(gate), { toolPolicy: () => deny })).error?.code).toBe('denied');
      expect(
        (
          await planOf(
            refund(() => deny),
            { toolPolicy: () => 7 },
          )
        ).error?.code,
      ).toBe('denied');
    }
    expect((await planOf(refund('auto'), { toolPolicy: () => 7 })).error?.code).toBe(
      'policy_error',
    );
  });

  it('is not called twice where the answer is a person’s, but narrows who may answer', async () => {
    const human = defineTool({
      name: 'ask',
      description: 'Asks.',
      executor: 'human',
      input: z.object({}),
      audience: { users: ['ben', 'cat'] },
    });
    const asks = (audience?: Audience) => () => ({ ask: { audience } });
    const args = {};
    expect(await planOf(human, { toolPolicy: asks(), args })).toMatchObject({
      approval: { needed: false },
      answerAudience: { users: ['ben', 'cat'] },
    });
    const narrowed = await planOf(human, { toolPolicy: asks({ users: ['cat', 'dan'] }), args });
    expect(narrowed.answerAudience).toEqual({ users: ['cat'] });
    const none = await planOf(human, { toolPolicy: asks({ users: ['dan'] }), args });
    expect(none.error?.code).toBe('policy_error');
    const denied = await planOf(human, { toolPolicy: () => ({ deny: 'quiet hours' }), args });
    expect(denied.error?.code).toBe('denied');
  });

  it('shows in the manifest of every tool that it may gate', () => {
    const tools = [refund('auto')];
    const toolPolicy: Policy = () => 'allow';
    const agent = defineAgent({ name: 'a', model, instructions: 'Help.', tools, toolPolicy });
    expect(manifestOf(agent).tools).toMatchObject([{ approval: 'policy' }]);
  });
});

describe('audiences of two policies that ask', () => {
  it.each<[Audience | undefined, Audience | undefined, Audience | 'none' | undefined]>([
    [undefined, undefined, undefined],
    [{ users: ['a'] }, undefined, { users: ['a'] }],
    [{ users: ['a', 'b'] }, { users: ['b', 'c'] }, { users: ['b'] }],
    [{ users: ['a'] }, { users: ['b'] }, 'none'],
    [{ users: ['a'] }, { exclude: ['a'] }, 'none'],
    [{ exclude: ['a'] }, { roles: ['r'] }, { roles: ['r'], exclude: ['a'] }],
    [{ roles: ['r'] }, { roles: ['s'] }, { roles: ['r'], also: [{ roles: ['s'] }] }],
    [
      { users: ['a'], exclude: ['x'] },
      { roles: ['s'], exclude: ['x', 'y'], requireVerified: true },
      { users: ['a'], exclude: ['x', 'y'], requireVerified: true, also: [{ roles: ['s'] }] },
    ],
    [
      { roles: ['r'], also: [{ users: ['a'] }] },
      { users: ['b'] },
      { roles: ['r'], also: [{ users: ['b'] }, { users: ['a'] }] },
    ],
  ])('%j and %j give %j', (left, right, both) => {
    expect(joinAudiences([left, right])).toEqual(both);
  });
});
