/** Approvals on a real server: who may decide, which edits are allowed, and which decisions are remembered. */
import { expect, test } from 'vitest';
import { z } from 'zod';
import type { Conversation } from '../../../src/client/index.js';
import { defineAgent } from '../../../src/define/define-agent.js';
import { defineTool } from '../../../src/define/define-tool.js';
import type { ScriptedModel } from '../../../src/model/scripted/scripted.js';
import { calls, says, script } from '../../../src/model/scripted/scripted.js';
import { startEngine } from '../../support/engine/engine.js';
import { promise } from '../../support/promise.js';

interface Till {
  readonly paid: number[];
}

const pay = defineTool<Till, z.ZodObject<{ cents: z.ZodNumber }>>({
  name: 'pay',
  description: 'Pays.',
  input: z.object({ cents: z.number().positive() }),
  effects: 'once',
  approval: ({ cents }) =>
    cents > 9_000
      ? { deny: 'too much' }
      : {
          ask: { reason: `${cents} cents`, audience: { roles: ['clerk'], exclude: ['requester'] } },
        },
  run: ({ cents }, ctx) => {
    ctx.services.paid.push(cents);
    return cents;
  },
});

const CLERK = { actor: { id: 'cleo', roles: ['clerk'] } };

async function startTill(model: ScriptedModel) {
  const till: Till = { paid: [] };
  const agent = defineAgent<Till>({ name: 'till', model, instructions: 'Pay.', tools: [pay] });
  const engine = await startEngine({ agents: [agent], services: till });
  return { engine, till };
}

test('a denied call cannot be approved after a restart of the worker, nor after a close and a reopening', async () => {
  const { engine, till } = await startTill(
    script(calls('pay', { cents: 5 }), says('kept'), says('still kept')),
  );
  const { talk } = await engine.ask('pay 5');
  const id = await pendingId(talk);
  expect((await talk.resolve(id, { type: 'deny', reason: 'no' }, CLERK)).verdict).toBe('accepted');
  const approve = async () => (await talk.resolve(id, { type: 'approve' }, CLERK)).verdict;
  await engine.stopWorker();
  await engine.startWorker();
  expect(await approve()).toBe('stale');
  await talk.close();
  expect(await approve()).toBe('stale');
  await engine.say(talk, 'and now?', { reopen: true });
  const begun = (await engine.log(talk)).filter(({ type }) => type === 'conversation_started');
  expect(begun.at(-1)).toMatchObject({ reopened: true });
  expect(await approve()).toBe('stale');
  expect(till.paid).toEqual([]);
});

async function pendingId(talk: Conversation): Promise<string> {
  const [pending] = await talk.pending();
  if (pending === undefined) throw new Error('nothing waits');
  return pending.toolCallId;
}

test('an actor outside the audience gets `forbidden` and leaves no history; an actor inside it decides', async () => {
  const { engine, till } = await startTill(script(calls('pay', { cents: 5 }), says('done')));
  const { talk } = await engine.ask('pay 5');
  const id = await pendingId(talk);
  const before = await engine.history.count(engine.workflowId(talk));
  for (const actor of [
    { id: 'ann', roles: ['guest'] },
    { id: 'tester', roles: ['clerk'] },
  ])
    expect(await talk.resolve(id, { type: 'approve' }, { actor })).toMatchObject({
      verdict: 'forbidden',
      httpStatus: 403,
    });
  expect(await engine.history.count(engine.workflowId(talk))).toBe(before);
  expect(await talk.resolve(id, { type: 'approve' }, CLERK)).toMatchObject({ verdict: 'accepted' });
  await engine.idle(talk);
  expect(till.paid).toEqual([5]);
});

test('an edited input is the one that runs; an edit that the tool or its policy refuses reopens the call', {
  ...promise('G48'),
}, async () => {
  const { engine, till } = await startTill(script(calls('pay', { cents: 500 }), says('done')));
  const { talk } = await engine.ask('pay 500');
  const id = await pendingId(talk);
  const edit = async (cents: number) =>
    await talk.resolve(id, { type: 'approve', input: { cents } }, CLERK);
  for (const [cents, reason] of [
    [-1, 'cents'],
    [10_000, 'too much'],
  ] as const) {
    expect(await edit(cents)).toMatchObject({ verdict: 'accepted' });
    await engine.reaches(talk, 'awaiting_input');
    const log = await engine.log(talk);
    const reverted = log.findLast((event) => event.type === 'resolution_reverted');
    expect(JSON.stringify(reverted)).toContain(reason);
  }
  expect(await edit(50)).toMatchObject({ verdict: 'accepted' });
  await engine.idle(talk);
  expect(till.paid).toEqual([50]);
});

test('a remembered decision decides the next call, is named there, and can be revoked', {
  ...promise('G49'),
}, async () => {
  const payment = calls('pay', { cents: 7 });
  const { engine, till } = await startTill(
    script(payment, says('one'), payment, says('two'), payment, says('three')),
  );
  const { talk } = await engine.ask('pay');
  const remember = { for: 'conversation', match: { '/cents': 7 } } as const;
  await talk.resolve(await pendingId(talk), { type: 'approve', remember }, CLERK);
  await engine.idle(talk);
  expect(await engine.say(talk, 'again')).toMatchObject({ status: 'completed', text: 'two' });
  expect(till.paid).toEqual([7, 7]);
  const [rule] = await talk.rules();
  expect(rule).toMatchObject({ tool: 'pay' });
  const named = (await engine.log(talk)).filter((event) =>
    JSON.stringify(event).includes(rule?.ruleId ?? 'none'),
  );
  expect(named.length).toBeGreaterThanOrEqual(2);
  await talk.revokeRule(rule?.ruleId ?? '');
  expect(await engine.say(talk, 'and again')).toMatchObject({ status: 'waiting' });
  expect(till.paid).toEqual([7, 7]);
});
