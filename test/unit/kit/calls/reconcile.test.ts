/** Tools that can reconcile a lost run, from definition to result. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineAgent, defineTool } from '../../../../src/index.js';
import { calls, says, script, testConversation } from '../../../../src/testing/index.js';

function shop(reconcile: ((input: unknown) => unknown) | undefined, more: object = {}) {
  const runs: string[] = [];
  const refund = defineTool({
    name: 'refund',
    description: 'Refunds.',
    input: z.object({ cents: z.int() }),
    output: z.object({ refunded: z.int() }),
    effects: 'once',
    ...more,
    ...(reconcile === undefined ? {} : { reconcile: reconcile as never }),
    run: ({ cents }, ctx) => {
      runs.push(ctx.idempotencyKey);
      return { refunded: cents };
    },
  });
  const model = script(calls('refund', { cents: 5 }), says('Done.'));
  const agent = defineAgent({ name: 'shop', instructions: 'Help.', model, tools: [refund] });
  return { conversation: testConversation(agent), runs };
}

async function afterLoss(reconcile: ((input: unknown) => unknown) | undefined, more?: object) {
  const { conversation, runs } = shop(reconcile, more);
  conversation.loseRuns('refund');
  await conversation.send('Refund 5');
  return { conversation, runs, result: conversation.result('refund') };
}

describe('a lost refund', () => {
  it('that happened has its result, and ran once', async () => {
    const { runs, result } = await afterLoss((input) => ({
      happened: true,
      result: { refunded: (input as { cents: number }).cents },
    }));
    expect(result).toEqual({ ok: true, result: { refunded: 5 } });
    expect(runs).toHaveLength(1);
  });

  it('that did not happen is run once more under the same key', async () => {
    const { runs, result } = await afterLoss(() => ({ happened: false }));
    expect(result).toEqual({ ok: true, result: { refunded: 5 } });
    expect(new Set(runs).size).toBe(1);
    expect(runs).toHaveLength(2);
  });

  it.each([
    ['says "unknown"', () => 'unknown'],
    ['says nothing', () => undefined],
    ['says yes', () => true],
    ['says something else', () => ({ happened: 'yes' })],
    ['says that it happened, without a result', () => ({ happened: true })],
    ['throws', () => Promise.reject(new Error('bank is down'))],
    ['lies by a getter', () => Object.defineProperty({}, 'happened', { get: thrower })],
  ])('whose tool %s is unknown, and was not run again', async (_how, reconcile) => {
    const { runs, result } = await afterLoss(reconcile);
    expect(result).toMatchObject({ ok: false, error: { code: 'outcome_unknown' } });
    expect(runs).toHaveLength(1);
  });

  it('whose tool does not answer in time is unknown', async () => {
    const { result } = await afterLoss(() => new Promise(() => undefined), {
      timeouts: { run: '20ms' },
    });
    expect(result).toMatchObject({ error: { code: 'outcome_unknown' } });
  });

  it('that happened with a result of the wrong shape says so', async () => {
    const { result } = await afterLoss(() => ({ happened: true, result: { refunded: 'five' } }));
    expect(result).toMatchObject({ error: { code: 'invalid_output' } });
  });

  it('is held for an operator where the tool says so', async () => {
    const { conversation } = await afterLoss(undefined, {
      onOutcomeUnknown: 'hold',
      audience: { roles: ['operator'] },
      timeouts: { answer: '2 days' },
    });
    expect(conversation.pending).toMatchObject([
      { kind: 'outcome', name: 'refund', prompt: { cents: 5 } },
    ]);
    const resolution = { type: 'outcome', value: { refunded: 5 } } as const;
    const actor = { id: 'customer' };
    expect((await conversation.resolve('refund', resolution, { actor })).verdict).toBe('forbidden');
    const operator = { id: 'olga', roles: ['operator'] };
    const reply = await conversation.resolve('refund', resolution, { actor: operator });
    expect(reply.verdict).toBe('accepted');
    expect(conversation.result('refund')).toEqual({ ok: true, result: { refunded: 5 } });
    expect(conversation.text).toBe('Done.');
  });
});

function thrower(): never {
  throw new Error('no');
}

describe('the definition of a tool', () => {
  const define = (more: object) => () =>
    defineTool({ name: 'x', description: 'X.', input: z.object({}), run: () => 1, ...more });

  it('may reconcile or hold only where it is never run again', () => {
    for (const effects of [undefined, 'none', 'idempotent']) {
      expect(define({ effects, reconcile: () => 'unknown' })).toThrow(/reconcile/);
      expect(define({ effects, onOutcomeUnknown: 'hold' })).toThrow(/onOutcomeUnknown/);
    }
    expect(define({ effects: 'once', reconcile: () => 'unknown' })).not.toThrow();
  });

  it('must give a function and a known policy', () => {
    expect(define({ effects: 'once', reconcile: true })).toThrow(/reconcile/);
    expect(define({ effects: 'once', onOutcomeUnknown: 'wait' })).toThrow(/onOutcomeUnknown/);
    expect(define({ executor: 'human', run: undefined, reconcile: () => 1 })).toThrow(/reconcile/);
  });
});
