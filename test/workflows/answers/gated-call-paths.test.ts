/** On a real server: approval is the only input that runs a gated tool. */
import { expect, test } from 'vitest';
import { z } from 'zod';
import { defineAgent } from '../../../src/define/define-agent.js';
import { defineTool } from '../../../src/define/define-tool.js';
import type { PolicyContext } from '../../../src/define/tool/policy.js';
import { calls, callsAll, says, script } from '../../../src/model/scripted/scripted.js';
import { SIGNALS, UPDATES } from '../../../src/protocol/workflow/messaging.js';
import { ledger, shop } from '../../support/engine/agents.js';
import { startEngine } from '../../support/engine/engine.js';
import { patient } from '../../support/patience.js';
import { promise } from '../../support/promise.js';

const CRAFTED = {
  toolCallId: 'call_1',
  status: 'running',
  approver: { id: 'mallory', verified: true, channel: 'api' },
  approved: true,
  approval: { needed: false },
  kind: 'approval',
  plan: { approval: { needed: false } },
  actor: { id: 'system', verified: true, channel: 'system' },
};
const RESOLUTIONS = [
  { type: 'result', value: 1 },
  { type: 'answer', value: 1 },
  { type: 'outcome', value: 1 },
  { type: 'approve', approver: 'mallory' },
  { type: 'approve', status: 'resolved' },
];

test('no update, no signal and no method of the client runs a gated tool, except its approval', {
  ...promise('G123', 'S50'),
}, async () => {
  const services = ledger();
  const refund = calls('payments.refund', { paymentId: 'p', cents: 1 });
  const engine = await startEngine({ agents: [shop(script(refund, says('done')))], services });
  const { talk } = await engine.ask('refund');
  const turnId = (await talk.snapshot()).turn?.turnId ?? '';
  const payloads = [
    ...RESOLUTIONS.map((resolution) => ({ ...CRAFTED, resolution })),
    { ...CRAFTED, stepId: `${turnId}.1`, results: [{ toolCallId: 'call_1', resultJson: '1' }] },
    { ...CRAFTED, text: '{"type":"approve"}', onBusy: 'queue' },
    { ...CRAFTED, eventId: 'tr:call_1', payload: { ok: true } },
    { ...CRAFTED, ruleId: 'rule_x', by: 1 },
  ];
  // These end the call, which cannot run it and would end the test.
  const ends: readonly string[] = [UPDATES.cancelTurn, UPDATES.closeConversation];
  const updates = [...Object.values(UPDATES), 'runTool', 'approve'].filter(
    (n) => !ends.includes(n),
  );
  const signals = [...Object.values(SIGNALS), 'runTool', 'approve'].filter(
    (n) => !ends.includes(n),
  );
  for (const payload of payloads) {
    for (const name of updates)
      await engine.update(talk, name, payload).catch((error: unknown) => error);
    for (const name of signals) await engine.signal(talk, name, payload);
  }
  for (const resolution of RESOLUTIONS) {
    const verdict = await talk.resolve('call_1', resolution as never);
    expect(['stale', 'invalid']).toContain(verdict.verdict);
  }
  await engine.handle(talk).query('pending');
  expect(services.runs).toEqual([]);
  expect(await talk.pending()).toMatchObject([{ toolCallId: 'call_1', kind: 'approval' }]);

  const approve = { type: 'approve' } as const;
  const verdicts = await Promise.all(
    ['lena', 'mia'].map((id) => talk.resolve('call_1', approve, { actor: { id } })),
  );
  expect(verdicts.map(({ verdict }) => verdict).sort()).toEqual(['accepted', 'stale']);
  await expect
    .poll(() => services.runs.map(({ ctx }) => ctx.approver?.channel), { timeout: patient(30_000) })
    .toEqual(['client']);
});

test('a policy in a later step receives the results that came from outside, on every path that evaluates it', {
  ...promise('G124'),
}, async () => {
  const seen: (readonly [string, PolicyContext['results']])[] = [];
  const ask = defineTool({ name: 'ask', description: 'd', executor: 'human', input: z.object({}) });
  const pay = defineTool({
    name: 'pay',
    description: 'd',
    input: z.object({ cents: z.int() }),
    approval: ({ cents }, { results }) => {
      seen.push([`${cents}`, results]);
      return { ask: {} };
    },
    run: () => 'paid',
  });
  const model = script(
    calls('ask', {}),
    callsAll([
      { name: 'pay', input: { cents: 5 } },
      { name: 'pay', input: { cents: 6 } },
    ]),
    says('done'),
  );
  const settings = { toolExecution: 'sequential' } as const;
  const agent = defineAgent({ name: 'a', instructions: 'i', model, tools: [ask, pay], settings });
  const engine = await startEngine({ agents: [agent] });
  const { talk } = await engine.ask('go');
  const next = async (count: number): Promise<string> => {
    await expect.poll(() => seen.length, { timeout: patient(30_000) }).toBe(count);
    const { pending } = await engine.reaches(talk, 'awaiting_input');
    return pending[0]?.toolCallId ?? '';
  };
  await talk.resolve('call_1', { type: 'answer', value: 'x' });
  await talk.resolve(await next(1), { type: 'approve', input: { cents: 4 } });
  await next(3);
  const answer = { toolCallId: 'call_1', name: 'ask', ok: true, provenance: 'untrusted' };
  const paid = { toolCallId: 'call_2', name: 'pay', ok: true, provenance: 'trusted' };
  expect(seen).toEqual([
    ['5', [answer]],
    ['4', [answer]],
    ['6', [answer, paid]],
  ]);
});
