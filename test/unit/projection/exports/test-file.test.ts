/** Tests written from logs: they pass as they stand, and fail where the conversation goes another way. */
import { setTimeout } from 'node:timers/promises';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineAgent, defineTool } from '../../../../src/index.js';
import type { ScriptedAnswer } from '../../../../src/model/scripted/types.js';
import { testFileOf } from '../../../../src/projection/exports/test-file.js';
import type { CanonicalEvent } from '../../../../src/protocol/log/events.js';
import {
  callsAll,
  fails,
  says,
  script,
  type TestConversation,
  testConversation,
} from '../../../../src/testing/index.js';
import { runTestFile } from '../../../support/forks/test-files.js';
import { patient } from '../../../support/patience.js';
import { promise } from '../../../support/promise.js';

const NUM_RUNS = Number(process.env['FC_RUNS'] ?? 20);

/** The tools of a shop; `gate` is the approval of the refund. */
function shopWith(gate: 'required' | 'auto') {
  const stock = defineTool({
    name: 'stock',
    description: 'Stock of an item.',
    input: z.object({ item: z.string().default('tea') }),
    effects: 'none',
    run: ({ item }) => ({ [item]: item.length }),
  });
  const refund = defineTool({
    name: 'refund',
    description: 'Refund a payment.',
    input: z.object({ cents: z.number().int() }),
    approval: gate,
    timeouts: { approval: '2 days' },
    run: ({ cents }, { toolCallId }) => `${toolCallId}:${cents}`,
  });
  const ask = defineTool({
    name: 'ask',
    description: 'Ask the customer.',
    executor: 'human',
    input: z.object({ question: z.string() }),
    output: z.object({ answer: z.string().regex(/^[a-z]+$/) }),
    timeouts: { answer: '3 days' },
  });
  const order = defineTool({
    name: 'order',
    description: 'Order goods.',
    mode: 'detach',
    approval: gate,
    input: z.object({ item: z.string() }),
    run: ({ item }) => ({ ordered: item }),
  });
  const cart = defineTool({
    name: 'cart',
    description: 'Read the cart in the browser.',
    executor: 'client',
    input: z.object({}),
    output: z.array(z.string()),
    timeouts: { claim: '30 seconds', answer: '1 hour' },
  });
  const later = defineTool({
    name: 'later',
    description: 'Look it up beside the others.',
    mode: 'detach',
    input: z.object({}),
    run: () => 'found',
  });
  const slow = defineTool({
    name: 'slow',
    description: 'Look it up.',
    input: z.object({}),
    run: async () => await setTimeout(5, 'found'),
  });
  const tools = [stock, refund, ask, order, cart, later, slow];
  return defineAgent({ name: 'shop', model: script(), instructions: 'Help.', tools });
}

const SHOP = shopWith('required');

/** Runs the text of a test file with this agent in the place of its imports. */
async function run(text: string, agent: unknown = SHOP): Promise<void> {
  await runTestFile(text, { shop: agent });
}

type Play = (t: TestConversation<unknown>) => Promise<unknown>;

async function logOf(answers: readonly ScriptedAnswer[], play: Play) {
  const t = testConversation(SHOP, { model: script(...answers) });
  await play(t);
  return t.events;
}

const LENA = { actor: { id: 'lena', roles: ['lead'] } };
const refund = (cents = 7) => ({ name: 'refund', input: { cents } });
const stock = (item = 'hat') => ({ name: 'stock', input: { item } });
const question = { name: 'ask', input: { question: 'Which?' } };
const order = { name: 'order', input: { item: 'hat' } };

const slow = { name: 'slow', input: {} };
const later = { name: 'later', input: {} };

const KINDS: readonly (readonly [string, readonly ScriptedAnswer[], Play])[] = [
  ['a plain turn', [says('Hello.')], (t) => t.send('hi')],
  ['two turns', [says('One.'), says('Two.')], async (t) => [await t.send('1'), await t.send('2')]],
  ['a tool', [callsAll([stock()]), says('Done.')], (t) => t.send('hi')],
  [
    'an approval',
    [callsAll([refund()]), says('Done.')],
    async (t) => [await t.send('hi'), await t.approve('refund', LENA)],
  ],
  [
    'a denial',
    [callsAll([refund()]), says('Sorry.')],
    async (t) => [await t.send('hi'), await t.deny('refund', 'too much', LENA)],
  ],
  [
    'an edit',
    [callsAll([refund()]), says('Done.')],
    async (t) => [await t.send('hi'), await t.approve('refund', { ...LENA, input: { cents: 3 } })],
  ],
  [
    'a form',
    [callsAll([question]), says('Done.')],
    async (t) => [await t.send('hi'), await t.answer('ask', { answer: 'red' })],
  ],
  [
    'an expired approval',
    [callsAll([refund()]), says('Too late.')],
    async (t) => [await t.send('hi'), await t.advance('2 days')],
  ],
  [
    'a detached call',
    [callsAll([order]), says('Later.'), says('Here.')],
    async (t) => [await t.send('hi'), await t.approve('order', LENA)],
  ],
  [
    'a detached call that ends before another one of its step',
    [callsAll([slow, later]), says('Done.'), says('More.')],
    async (t) => [await t.send('hi'), await t.send('more')],
  ],
  [
    'parallel calls',
    [callsAll([refund(), stock(), question, stock('cup')], 'Wait.'), says('Done.')],
    async (t) => [
      await t.send('hi'),
      await t.answer('ask', { answer: 'red' }),
      await t.approve('refund'),
    ],
  ],
  [
    'a message while a call waits',
    [callsAll([refund()]), says('It waits.'), says('Done.')],
    async (t) => [await t.send('hi'), await t.send('well?'), await t.approve('refund')],
  ],
  [
    'arguments that break a rule',
    [callsAll([{ name: 'refund', input: {} }]), says('Oh.')],
    (t) => t.send('hi'),
  ],
  [
    'an event',
    [says('Hello.'), says('Paid.')],
    async (t) => [
      await t.send('hi'),
      await t.sendEvent({ eventId: 'e-1', kind: 'paid', payload: { cents: 1 } }),
    ],
  ],
  [
    'a cancel',
    [callsAll([refund(), stock()])],
    async (t) => [await t.send('hi'), await t.cancel()],
  ],
  [
    'a message that interrupts',
    [callsAll([refund()]), says('Yes?'), says('Done.')],
    async (t) => [
      await t.send('hi'),
      await t.send('stop', { onBusy: 'interrupt' }),
      await t.send('go on'),
    ],
  ],
  [
    'a call that no client takes, beside one that waits for longer',
    [callsAll([{ name: 'cart', input: {} }, refund()]), says('Done.')],
    async (t) => [await t.send('hi'), await t.advance('30 seconds'), await t.approve('refund')],
  ],
  ['a model that fails', [fails('model_bad_request', { retryable: false })], (t) => t.send('hi')],
  ['a call that waits at the end', [callsAll([refund(), stock()])], (t) => t.send('hi')],
];

describe('a conversation exported as a test', promise('G384', 'G386'), () => {
  it.each(KINDS)('passes as it stands: %s', async (_title, answers, play) => {
    await run(testFileOf(await logOf(answers, play)));
  });

  it('passes as it stands where a wait ended during the check of a refused answer', async () => {
    const events = await logOf([callsAll([question]), says('Done.')], async (t) => [
      await t.send('hi'),
      await t.resolve(t.pending[0]?.toolCallId ?? '', { type: 'answer', value: { answer: '1' } }),
      await t.advance('3 days'),
    ]);
    const checkedFor3Days = events.map((event): CanonicalEvent => {
      if (event.type !== 'suspension' || event.suspension.reverted === undefined) return event;
      const { suspension } = event;
      return { ...event, suspension: { ...suspension, openedAt: suspension.deadline } };
    });
    expect(checkedFor3Days).not.toEqual(events);
    await run(testFileOf(checkedFor3Days));
  });

  it('imports what it needs, and names the agent', async () => {
    const text = testFileOf(await logOf([says('Hi.')], (t) => t.send('hi')), { from: '../a.js' });
    expect(text).toContain("import { script, testConversation } from 'colloquy/testing';");
    expect(text).toContain('import { shop } from "../a.js";');
  });

  it('fails when the gate, the result of a tool or the final text is another', async () => {
    const answers = [callsAll([refund(), stock()]), says('Done.')];
    const text = testFileOf(
      await logOf(answers, async (t) => [await t.send('hi'), await t.approve('refund')]),
    );
    await run(text);
    await expect(run(text, shopWith('auto'))).rejects.toThrow();
    const recorded = /^ {2}const recorded = .*$/m;
    const other = text.replace(recorded, (line) => line.replace('"hat":3', '"hat":4'));
    expect(other).not.toBe(text);
    await expect(run(other)).rejects.toThrow();
    const said = text.replace('"text":"Done."}', '"text":"Done!"}');
    expect(said).not.toBe(text);
    await expect(run(said)).rejects.toThrow();
  });

  it('refuses a log that cannot be played again, and names the event', async () => {
    const events = await logOf([says('Hi.')], (t) => t.send('hi'));
    const lost = { type: 'run_ended', runId: 'r', status: 'terminated' } as const;
    const more: CanonicalEvent = { ...lost, seq: events.length + 1, at: events[0]?.at ?? '' };
    expect(() => testFileOf([...events, more])).toThrow(`event ${events.length + 1} is the end`);
  });

  it('passes as it stands after any conversation', {
    timeout: patient(60_000 + NUM_RUNS * 500),
  }, async () => {
    const call = fc.constantFrom(refund(), refund(9), stock(), question, order, {
      name: 'refund',
      input: { cents: 'x' },
    });
    const answer = fc.oneof(
      fc.string({ maxLength: 8 }).map((text) => says(`Said ${text}`)),
      fc.array(call, { minLength: 1, maxLength: 4 }).map((calls) => callsAll(calls)),
    );
    const input = fc.constantFrom<(t: TestConversation<unknown>) => Promise<unknown>>(
      (t) => t.send('more'),
      (t) => t.advance('3 days'),
      (t) => t.cancel(),
      ...[0, 1, 2].flatMap((index): Play[] => [
        async (t) => {
          const at = t.pending[index];
          if (at?.kind === 'approval') await t.approve(at.toolCallId, LENA);
        },
        async (t) => {
          const at = t.pending[index];
          if (at?.kind === 'approval') await t.deny(at.toolCallId, 'no');
          if (at?.kind === 'elicitation') await t.answer(at.toolCallId, { answer: 'red' });
        },
      ]),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(answer, { maxLength: 6 }),
        fc.array(input, { maxLength: 8 }),
        async (answers, inputs) => {
          const events = await logOf(
            [...answers, ...Array.from({ length: 20 }, () => says('Enough.'))],
            async (t) => {
              await t.send('hi');
              for (const act of inputs) await act(t);
            },
          );
          await run(testFileOf(events));
        },
      ),
      { numRuns: NUM_RUNS },
    );
  });
});
