/** Recorded turns that are played again on a real server: no tool runs, and the conversation stays as it is. */
import { randomUUID } from 'node:crypto';
import { expect, inject, test } from 'vitest';
import type { Conversation, WhatIfReport } from '../../../src/client/index.js';
import { type Agent, defineAgent } from '../../../src/define/define-agent.js';
import { calls, hangs, says, script } from '../../../src/model/scripted/scripted.js';
import type { ScriptedAnswer } from '../../../src/model/scripted/types.js';
import type { Model } from '../../../src/protocol/model/model.js';
import { whatIfPrefixOf, whatIfWorkflowId } from '../../../src/protocol/workflow/what-if.js';
import { ledger, type Services, shop, TOOLS } from '../../support/engine/agents.js';
import { type Engine, startEngine } from '../../support/engine/engine.js';
import { replay } from '../../support/engine/replay.js';
import { promise } from '../../support/promise.js';
import { until } from '../../support/until.js';

const TEA = calls('stock', { item: 'tea' });
const MILK = calls('stock', { item: 'milk' });

/** Another agent with the tools of the shop; its model has a name of its own. */
function rival(...answers: readonly ScriptedAnswer[]) {
  const scripted = script(...answers);
  const model: Model = {
    name: 'rival-model',
    generate: (request, options) => scripted.generate(request, options),
  };
  const spec = { name: 'rival', model, instructions: 'Sell more.', tools: TOOLS };
  const agent: Agent<Services> = defineAgent<Services>(spec);
  return { agent, scripted };
}

/** A turn of two steps with one call each, and a text. */
async function asked(others: readonly Agent<Services>[] = [], ...again: ScriptedAnswer[]) {
  const services = ledger({ stock: ({ input }) => ({ of: input as string, count: 7 }) });
  const model = script(TEA, MILK, says('7 and 7'), ...again);
  const engine = await startEngine<Services>({ agents: [shop(model), ...others], services });
  const { talk } = await engine.ask('How much?');
  return { engine, talk, services, model, log: JSON.stringify(await engine.log(talk)) };
}

async function unchanged(engine: Engine, talk: Conversation, log: string): Promise<void> {
  expect(JSON.stringify(await engine.log(talk))).toBe(log);
}

test('a turn is played again with other instructions, and each step is shown beside the recorded one', {
  ...promise('G389'),
}, async () => {
  const { engine, talk, services, model, log } = await asked([], TEA, MILK, says('Plenty'));
  const begun = await talk.whatIf({ instructions: 'Be brief.' });
  expect(begun).toMatchObject({ conversationId: talk.id, agent: 'shop', duplicate: false });
  const report = await begun.result({ timeout: '20 seconds' });
  expect(report).toMatchObject({ state: 'ended', reason: 'answered', generation: 1 });
  const { steps } = report as Extract<WhatIfReport, { state: 'ended' }>;
  expect(
    steps.map(({ compared, recorded, answer }) => [compared, recorded?.text, answer.text]),
  ).toEqual([
    ['same', '', ''],
    ['same', '', ''],
    ['differs', '7 and 7', 'Plenty'],
  ]);
  const [first, , , ...requests] = model.requests;
  expect(requests.map(({ system }) => system.split('\n')[0])).toEqual(Array(3).fill('Be brief.'));
  expect(requests[0]?.messages).toEqual(first?.messages);
  expect(JSON.stringify(requests[2]?.messages)).toContain('"count":7');
  expect(services.runs).toHaveLength(2);
  await unchanged(engine, talk, log);
  expect(await talk.whatIfReport(begun.whatIfId)).toEqual(report);
});

test('the first call without a recorded result ends it, with another agent or another model', {
  ...promise('G389'),
}, async () => {
  const refund = calls('payments.refund', { paymentId: 'p', cents: 1 });
  const { agent, scripted } = rival(TEA, refund, MILK);
  const { engine, talk, services, log } = await asked([agent]);
  const first = await (await talk.whatIf({ agent: 'rival' })).result();
  expect(first).toMatchObject({
    ...{ state: 'diverged', agent: 'rival' },
    diverged: { step: 2, name: 'payments.refund', reason: 'not_recorded' },
    steps: [{ compared: 'same' }, { compared: 'differs', answer: { model: 'scripted' } }],
  });
  const second = await (await talk.whatIf({ model: 'rival-model' })).result();
  expect(second).toMatchObject({ state: 'failed', error: { code: 'script_exhausted' } });
  expect(second).toMatchObject({ steps: [{ compared: 'differs' }] });
  const systems = scripted.requests.map(({ system }) => system.split('\n')[0]);
  expect(systems).toEqual(['Sell more.', 'Sell more.', 'Help the customer.', 'Help the customer.']);
  expect(services.runs).toHaveLength(2);
  await unchanged(engine, talk, log);
});

test('it waits for a worker, goes on with another one behind its finished steps, and a repeat finds it', {
  ...promise('G389'),
}, async () => {
  const { engine, talk, services, model, log } = await asked([], TEA, hangs(), MILK, says('x'));
  await engine.stopWorker();
  const request = { instructions: 'Be brief.', requestId: randomUUID() };
  const begun = await talk.whatIf(request);
  const waiting = await until('it waits', () => talk.whatIfReport(begun.whatIfId), {
    ...{ holds: (report) => 'warning' in report, timeoutMs: 30_000 },
  });
  expect(waiting).toMatchObject({
    state: 'running',
    warning: expect.stringContaining('worker') as string,
  });
  await engine.startWorker();
  await until('the model hangs', () => model.requests.length === 5);
  await engine.stopWorker();
  await engine.startWorker();
  const again = await talk.whatIf(request);
  expect(again).toMatchObject({ whatIfId: begun.whatIfId, duplicate: true });
  expect(await again.result()).toMatchObject({ state: 'ended', reason: 'answered' });
  // One call of the model was lost with its worker.
  expect(model.requests).toHaveLength(3 + 4);
  expect(services.runs).toHaveLength(2);
  await unchanged(engine, talk, log);
  await expect(talk.whatIf({ ...request, instructions: 'Other.' })).rejects.toMatchObject({
    ...{ code: 'invalid_request', problems: [{ path: '/requestId' }] },
  });
  const id = whatIfWorkflowId({ tenant: talk.tenant, conversationId: talk.id }, begun.whatIfId);
  const history = await engine.temporal.workflow.getHandle(id).fetchHistory();
  await replay({ codePath: inject('workflowBundlePath') }, history);
});

test('one that runs is listed and cancelled: its model call stops, and its finished step stays', {
  ...promise('G389'),
}, async () => {
  const { engine, talk, services, model, log } = await asked([], says('Plenty'), TEA, hangs());
  const first = await talk.whatIf({ instructions: 'Be brief.' });
  expect(await first.result()).toMatchObject({ state: 'ended' });
  const begun = await talk.whatIf({ instructions: 'Be kind.' });
  await until('the model hangs', () => model.requests.length === 6);
  const both = await until('both are listed', () => talk.whatIfs(), {
    holds: ({ whatIfs }) => whatIfs.length === 2 && whatIfs[1]?.state === 'ended',
  });
  expect(both.whatIfs).toMatchObject([
    { whatIfId: begun.whatIfId, state: 'running' },
    { whatIfId: first.whatIfId, state: 'ended', reason: 'answered', stepCount: 1 },
  ]);
  const page = await talk.whatIfs({ limit: 1 });
  expect(page.whatIfs.map(({ whatIfId }) => whatIfId)).toEqual([begun.whatIfId]);
  const rest = await talk.whatIfs({ cursor: page.nextCursor });
  expect(rest).toEqual({ whatIfs: both.whatIfs.slice(1) });
  expect(await talk.cancelWhatIf(begun.whatIfId)).toMatchObject({ status: 'stopping' });
  const report = await begun.result({ timeout: '20 seconds' });
  expect(report).toMatchObject({ state: 'cancelled', steps: [{ compared: 'same' }] });
  expect(await talk.cancelWhatIf(begun.whatIfId)).toMatchObject({
    ...{ status: 'over', state: 'cancelled' },
  });
  await until('the list has its end', () => talk.whatIfs(), {
    holds: ({ whatIfs }) => whatIfs[0]?.state === 'cancelled',
  });
  // No further step was asked for.
  expect(model.requests).toHaveLength(6);
  expect(services.runs).toHaveLength(2);
  await unchanged(engine, talk, log);
  const key = { tenant: talk.tenant, conversationId: talk.id };
  const handle = engine.temporal.workflow.getHandle(whatIfWorkflowId(key, begun.whatIfId));
  await replay({ codePath: inject('workflowBundlePath') }, await handle.fetchHistory());
});

test('one that no worker has taken is cancelled as soon as one does, without a model call', {
  ...promise('G389'),
}, async () => {
  const { engine, talk, model } = await asked();
  await engine.stopWorker();
  const begun = await talk.whatIf({ instructions: 'Be brief.' });
  expect(await talk.cancelWhatIf(begun.whatIfId)).toMatchObject({ status: 'stopping' });
  expect(await talk.whatIfReport(begun.whatIfId)).toMatchObject({ state: 'running' });
  await engine.startWorker();
  const report = await begun.result({ timeout: '20 seconds' });
  expect(report).toMatchObject({ state: 'cancelled', steps: [] });
  expect(model.requests).toHaveLength(3);
});

/** The number of what-ifs that the server lists. */
function whatIfsOf(engine: Engine, { tenant, id: conversationId }: Conversation) {
  const query = `WorkflowId STARTS_WITH '${whatIfPrefixOf({ tenant, conversationId })}'`;
  return async (): Promise<number> => (await engine.temporal.workflow.count(query)).count;
}

test('it is gone with its conversation, also where another one begins under the id', {
  ...promise('G389'),
}, async () => {
  const { engine, talk } = await asked([], says('Plenty'), says('new'));
  const begun = await talk.whatIf({ agent: 'shop' });
  expect(await begun.result()).toMatchObject({ state: 'ended' });
  const left = whatIfsOf(engine, talk);
  await until('it is listed', left, { holds: (count) => count === 1 });
  await engine.client.deleteConversation(talk.id);
  await expect(talk.whatIfReport(begun.whatIfId)).rejects.toMatchObject({
    code: 'unknown_conversation',
  });
  await until('it is removed', left, { holds: (count) => count === 0 });
  await engine.say(talk, 'Hello');
  await expect(talk.whatIfReport(begun.whatIfId)).rejects.toMatchObject({
    code: 'unknown_what_if',
  });
});

test('it ends after the steps that it may have, and is removed with its tenant', async () => {
  const services = ledger({ stock: () => ({ of: 'tea', count: 7 }) });
  const model = script(TEA, says('7'), TEA);
  const engine = await startEngine<Services>({ agents: [shop(model)], services });
  const talk = engine.client.conversation('c', { tenant: `t-${randomUUID()}`, agent: 'shop' });
  await (await talk.send('How much?')).result();
  const begun = await talk.whatIf({ agent: 'shop', maxSteps: 1 });
  const report = { state: 'ended', reason: 'max_steps', steps: [{ compared: 'same' }] };
  expect(await begun.result()).toMatchObject(report);
  const left = whatIfsOf(engine, talk);
  await until('it is listed', left, { holds: (count) => count === 1 });
  await engine.client.deleteTenant(talk.tenant);
  await until('it is removed', left, { holds: (count) => count === 0 });
});
