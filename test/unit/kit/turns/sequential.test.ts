/** Steps whose calls run one after the other: each is validated and gated when its turn comes (S35). */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineAgent } from '../../../../src/define/define-agent.js';
import { defineTool } from '../../../../src/define/define-tool.js';
import { callsAll, says, script } from '../../../../src/model/scripted/scripted.js';
import { testConversation } from '../../../../src/testing/index.js';
import { promise } from '../../../support/promise.js';
import { until } from '../../../support/until.js';

interface Till {
  readonly paid: number[];
  open: boolean;
}

const pay = defineTool<Till, z.ZodObject<{ cents: z.ZodNumber }>>({
  name: 'pay',
  description: 'Pays.',
  input: z.object({ cents: z.number() }),
  effects: 'once',
  approval: ({ cents }, ctx) => {
    if (!ctx.services.open) return { deny: 'the till is closed' };
    return cents > 100 ? { ask: { reason: `${cents} is a lot` } } : 'allow';
  },
  run: ({ cents }, ctx) => {
    ctx.services.paid.push(cents);
    return ctx.services.paid.length;
  },
});

const close = defineTool<Till, z.ZodObject>({
  name: 'close_till',
  description: 'Closes the till.',
  input: z.object({}),
  effects: 'idempotent',
  run: (_input, ctx) => {
    ctx.services.open = false;
    return 'closed';
  },
});

function conversation(...inputs: readonly { name: string; input: unknown }[]) {
  const till: Till = { paid: [], open: true };
  const agent = defineAgent<Till>({
    name: 'cashier',
    model: script(callsAll(inputs as never), says('done')),
    instructions: 'Pay.',
    tools: [pay, close],
    settings: { toolExecution: 'sequential' },
  });
  return { till, talk: testConversation(agent, { services: till }) };
}
const payment = (cents: unknown) => ({ name: 'pay', input: { cents } });

describe('a step whose calls run one after the other', () => {
  it('is planned once when the conversation rolls over while a policy runs', async () => {
    let asked = 0;
    let decide: (decision: 'allow') => void = () => undefined;
    const thinks = new Promise<'allow'>((resolve) => {
      decide = resolve;
    });
    const slow = defineTool({
      name: 'pay',
      description: 'Pays.',
      input: z.object({ cents: z.number() }),
      approval: () => {
        asked += 1;
        return asked === 1 ? 'allow' : thinks;
      },
      run: () => 'paid',
    });
    const agent = defineAgent({
      name: 'cashier',
      model: script(callsAll([payment(1), payment(2)] as never), says('done')),
      instructions: 'Pay.',
      tools: [slow],
      settings: { toolExecution: 'sequential' },
    });
    const talk = testConversation(agent);
    const sent = talk.send('pay');
    await until('the policy is asked', () => asked === 2);
    talk.rollOver();
    decide('allow');
    await sent;
    expect(asked).toBe(2);
    expect(talk.eventTypes.filter((type) => type === 'call_planned')).toHaveLength(1);
    expect(talk.result('pay')).toEqual({ ok: true, result: 'paid' });
  });

  it('pauses once for each gated call, and plans none behind it', {
    ...promise('G110', 'S35', 'C33', 'C42'),
  }, async () => {
    const { till, talk } = conversation(payment(500), payment(50), payment(700));
    await talk.send('pay them');
    expect(talk.pending).toMatchObject([{ name: 'pay', prompt: { cents: 500 } }]);
    expect(talk.eventTypes).not.toContain('call_planned');
    await talk.resolve('pay', { type: 'approve' });
    expect(till.paid).toEqual([500, 50]);
    expect(talk.pending).toMatchObject([{ prompt: { cents: 700 }, reason: '700 is a lot' }]);
    await talk.resolve('pay', { type: 'deny' });
    expect(talk.text).toBe('done');
    expect(till.paid).toEqual([500, 50]);
    expect(talk.eventTypes.filter((type) => type === 'suspension')).toHaveLength(2);
  });

  it('judges a call by the results of the calls before it', {
    ...promise('G110', 'C33', 'C42'),
  }, async () => {
    const { till, talk } = conversation(payment(5), { name: 'close_till', input: {} }, payment(6));
    await talk.send('pay, close, pay');
    expect(till.paid).toEqual([5]);
    const [, , last] = talk.events.flatMap((event) =>
      event.type === 'tool_result' ? [event.result] : [],
    );
    expect(last).toMatchObject({
      envelope: { ok: false, error: { code: 'denied', message: 'the till is closed' } },
    });
  });

  it('gives a call that cannot run its error when its turn comes, and continues', async () => {
    const { till, talk } = conversation(
      payment(5),
      payment('much'),
      { name: 'nope', input: {} },
      payment(6),
    );
    await talk.send('pay');
    expect(till.paid).toEqual([5, 6]);
    const codes = talk.events.flatMap((event) =>
      event.type === 'tool_result' && !event.result.envelope.ok
        ? [event.result.envelope.error.code]
        : [],
    );
    expect(codes).toEqual(['invalid_input', 'unknown_tool']);
    expect(talk.text).toBe('done');
  });

  it('is stopped as a whole: calls whose turn never came are cancelled', async () => {
    const { till, talk } = conversation(payment(500), payment(5));
    await talk.send('pay');
    await talk.cancel();
    expect(till.paid).toEqual([]);
    const statuses = talk.events.flatMap((event) =>
      event.type === 'tool_result' ? [event.result.status] : [],
    );
    expect(statuses).toEqual(['cancelled', 'cancelled']);
  });

  it('continues after a roll-over in the middle', async () => {
    const { till, talk } = conversation(payment(500), payment(5));
    await talk.send('pay');
    talk.rollOver();
    await talk.resolve('pay', { type: 'approve' });
    expect(till.paid).toEqual([500, 5]);
  });
});
