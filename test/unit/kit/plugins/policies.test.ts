/** Policies that decide by the states of plugins. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createTool } from '../../../../src/compat/index.js';
import { createServices, defineAgent, definePlugin, defineTool } from '../../../../src/index.js';
import { calls, callsAll, says, script, testConversation } from '../../../../src/testing/index.js';
import { promise } from '../../../support/promise.js';

const spending = definePlugin({
  id: 'spending',
  state: z.object({ cents: z.number().default(0) }),
});

const limit = 100;

/** The spending that the policy has read, at each of its decisions. */
const seen: number[] = [];

/** Asks once the conversation has spent more than the limit. */
const pay = (input: z.ZodType<{ cents: number }> = z.object({ cents: z.int() })) =>
  defineTool({
    name: 'pay',
    description: 'Pays.',
    input,
    migrate: (raw) => raw as { cents: number },
    approval: ({ cents }, ctx) => {
      const spent = ctx.getState(spending).cents;
      seen.push(spent);
      return spent + cents > limit ? { ask: { reason: `${spent} spent` } } : 'allow';
    },
    run: ({ cents }, ctx) => {
      ctx.patchState(spending, { op: 'increment', path: '/cents', by: cents });
      return cents;
    },
  });

const agentWith = (model: ReturnType<typeof script>, tool = pay(), more: object = {}) =>
  defineAgent({
    ...{ name: 'payer', model, instructions: 'Pay.', plugins: [spending], tools: [tool] },
    ...more,
  });

const talkTo = (model: ReturnType<typeof script>, settings?: object) =>
  testConversation(agentWith(model, pay(), settings === undefined ? {} : { settings }));

const reasons = (t: ReturnType<typeof talkTo>) =>
  t.eventsOf('suspension').map(({ suspension }) => suspension.reason);

describe('a policy', promise('G337'), () => {
  it('reads the state that the tools of its step see', async () => {
    const t = talkTo(
      script(
        callsAll([60, 60].map((cents) => ({ name: 'pay', input: { cents } }))),
        calls('pay', { cents: 1 }),
        says('Paid.'),
      ),
    );
    await t.send('Pay');
    // Both calls of the first step were judged by what was spent before it.
    expect(reasons(t)).toEqual(['120 spent']);
    await t.approve('pay');
    expect(t.text).toBe('Paid.');
  });

  it('of a call in a sequence reads what the calls before it have changed', async () => {
    const t = talkTo(
      script(callsAll([60, 60].map((cents) => ({ name: 'pay', input: { cents } }))), says('Paid.')),
      { toolExecution: 'sequential' },
    );
    await t.send('Pay');
    expect(reasons(t)).toEqual(['60 spent']);
  });

  it('of an edited call, or of one whose definition has changed, reads the present state', async () => {
    const first = calls('pay', { cents: 150 });
    const model = () => script(first, calls('pay', { cents: 90 }), says('Paid.'));
    const edited = talkTo(model());
    await edited.send('Pay');
    await edited.send('And less?');
    seen.length = 0;
    const [call] = edited.pending;
    const edit = { type: 'approve', input: { cents: 20 } } as const;
    await edited.resolve(call?.toolCallId ?? '', edit);
    expect(seen).toEqual([90]);

    const deployed = talkTo(model());
    await deployed.send('Pay');
    await deployed.send('And less?');
    seen.length = 0;
    await deployed.deploy(
      agentWith(model(), pay(z.object({ cents: z.int(), by: z.string().default('card') }))),
    );
    await deployed.approve('pay');
    // The migrated call would be approved anew.
    expect(seen).toEqual([90]);
  });

  it('of createTool reads states as well, and cannot change them', async () => {
    const tool = (change: boolean) =>
      createTool({
        id: 'pay',
        description: 'Pays.',
        input: z.object({ cents: z.int() }),
        output: z.number(),
        requireApproval: ({ state }) => {
          if (change) state.setState(spending, { cents: 0 });
          return { required: state.getState(spending).cents === 0, reason: 'first' };
        },
        invoke: ({ input }) => input.cents,
      });
    const services = await createServices([]);
    const of = (change: boolean) =>
      testConversation(
        defineAgent({
          ...{ name: 'payer', instructions: 'Pay.', plugins: [spending], tools: [tool(change)] },
          model: script(calls('pay', { cents: 1 }), says('Paid.')),
        }),
        { services },
      );
    const reads = of(false);
    await reads.send('Pay');
    expect(reads.pending).toMatchObject([{ reason: 'first' }]);
    const changes = of(true);
    await changes.send('Pay');
    expect(changes.result('pay')).toMatchObject({ ok: false, error: { code: 'policy_error' } });
  });
});
