import { randomUUID } from 'node:crypto';
import { WithStartWorkflowOperation } from '@temporalio/client';
import { expect, test } from 'vitest';
import { fails, says, script } from '../../src/model/scripted/scripted.js';
import type { ReopenInput } from '../../src/protocol/workflow/messaging.js';
import { ledger, shop } from '../support/engine/agents.js';
import type { Engine } from '../support/engine/engine.js';
import { promise } from '../support/promise.js';
import { startTimedEngine } from '../support/started-engines/time.js';
import { until } from '../support/until.js';

type Workflow = (input: unknown) => Promise<void>;

/** Starts a conversation with a message that must be refused. The client never does this. */
async function sendBlank(
  engine: Engine,
  conversationId: string,
  reopen?: ReopenInput,
): Promise<unknown> {
  const settings = { maxSteps: 5, onBusy: 'reject', idleCloseMs: 3_600_000 };
  const input = {
    tenant: 'default',
    conversationId,
    agent: 'shop',
    settings,
    searchAttributes: false,
  };
  const startWorkflowOperation = new WithStartWorkflowOperation<Workflow>('conversation', {
    workflowId: engine.workflowId({ id: conversationId }),
    taskQueue: engine.taskQueue,
    workflowIdConflictPolicy: 'USE_EXISTING',
    args: [reopen === undefined ? input : { ...input, reopen }],
  });
  return await engine.temporal.workflow.executeUpdateWithStart<Workflow, unknown, [unknown]>(
    'sendMessage',
    {
      args: [{ text: ' ' }],
      startWorkflowOperation,
    },
  );
}

test('an idle conversation closes after thirty days, and can be reopened', async () => {
  const model = script(says('one'), says('two'), says('three'));
  const { engine, pass } = await startTimedEngine({ agents: [shop(model)], services: ledger() });
  const { talk } = await engine.ask();
  await pass('20 days');
  expect(await engine.say(talk, 'still there?')).toMatchObject({ text: 'two' });
  await pass('20 days');
  expect((await engine.snapshot(talk)).status).toBe('idle');
  await pass('11 days');
  await engine.reaches(talk, 'closed');
  expect((await engine.log(talk)).at(-1)).toMatchObject({
    type: 'conversation_closed',
    reason: 'idle',
    actor: { id: 'system' },
  });
  await expect(talk.send('hello?')).rejects.toMatchObject({ code: 'conversation_closed' });
  expect(await engine.say(talk, 'hello?', { reopen: true })).toMatchObject({ text: 'three' });
});

test(
  'a conversation whose inbox is held back stays open until the inbox has been read',
  promise('G126'),
  async () => {
    const settings = {
      idleClose: '10 minutes',
      inbox: { rate: { turns: 1, per: '1 hour' } },
    } as const;
    const model = script(says('hello'), says('the first'), says('the second'));
    const { engine, pass } = await startTimedEngine({
      agents: [shop(model, settings)],
      services: ledger(),
    });
    const { talk } = await engine.ask();
    const texts = async (): Promise<readonly unknown[]> =>
      (await engine.log(talk)).flatMap((event) =>
        event.type === 'turn_ended' ? [event.text] : [],
      );
    for (const n of [1, 2]) {
      await engine.signal(talk, 'inboxEvent', { eventId: `e-${n}`, kind: 'note', payload: n });
      if (n === 1) await until('the first is read', texts, { holds: ({ length }) => length === 2 });
    }
    await pass('50 minutes');
    expect((await engine.snapshot(talk)).status).toBe('idle');
    await pass('11 minutes');
    await until('the second is read', texts, { holds: ({ length }) => length === 3 });
    expect(await texts()).toEqual(['hello', 'the first', 'the second']);
    await pass('11 minutes');
    await engine.reaches(talk, 'closed');
  },
);

test('a model that requests a pause is called again after it, not before', async () => {
  const model = script(fails('model_rate_limited', { retryAfterMs: 50_000 }), says('at last'));
  const { engine, pass } = await startTimedEngine({ agents: [shop(model)], services: ledger() });
  const talk = engine.begin();
  const turn = await engine.send(talk, 'hi');
  await until('the model refused', () => model.requests.length === 1);
  await pass('40s');
  expect(model.requests).toHaveLength(1);
  await pass('15s');
  expect(await turn.result({ timeout: '10s' })).toMatchObject({
    status: 'completed',
    text: 'at last',
  });
  expect((await engine.log(talk)).find(({ type }) => type === 'model_call')).toMatchObject({
    attempt: 2,
  });
});

test('a model that stays unavailable ends the turn as failed after ten attempts, and the next message is tried again', async () => {
  const model = script(
    ...Array.from({ length: 10 }, () => fails('model_unavailable')),
    says('back'),
  );
  const { engine, pass } = await startTimedEngine({ agents: [shop(model)], services: ledger() });
  const talk = engine.begin();
  const turn = await engine.send(talk, 'hi');
  for (let tries = 1; tries <= 10; tries += 1) {
    await until(`try ${tries}`, () => model.requests.length >= tries);
    await pass('10s');
  }
  expect(await turn.result({ timeout: '10s' })).toMatchObject({
    status: 'failed',
    error: { code: 'model_unavailable' },
  });
  expect(await engine.say(talk, 'again')).toMatchObject({ status: 'completed', text: 'back' });
});

test('a run whose first message was refused ends after a minute, and the id is free for a valid one', async () => {
  const { engine, pass } = await startTimedEngine({
    agents: [shop(script(says('hi')))],
    services: ledger(),
  });
  const id = randomUUID();
  await expect(sendBlank(engine, id)).rejects.toMatchObject({ cause: { type: 'invalid_request' } });
  await pass('61s');
  const failed = async (): Promise<string> => (await engine.handle({ id }).describe()).status.name;
  await until('the empty run ends', failed, { holds: (name) => name === 'FAILED' });
  const talk = engine.begin(id);
  expect(await engine.say(talk, 'hello')).toMatchObject({ status: 'completed', text: 'hi' });
  expect((await engine.logTypes(talk))[0]).toBe('conversation_started');
});

test('a closed conversation stays closed when the message that would have reopened it was refused', async () => {
  const model = script(says('one'), says('two'));
  const { engine } = await startTimedEngine({ agents: [shop(model)], services: ledger() });
  const { talk } = await engine.ask();
  await talk.close();
  const described = async (): Promise<{ readonly runId: string; readonly status: string }> => {
    const { runId, status } = await engine.handle(talk).describe();
    return { runId, status: status.name };
  };
  const closed = await until('it is closed', described, {
    holds: ({ status }) => status === 'COMPLETED',
  });
  await expect(sendBlank(engine, talk.id, {})).rejects.toMatchObject({
    cause: { type: 'invalid_request' },
  });
  await until('the empty run ends', described, {
    holds: ({ runId, status }) => runId !== closed.runId && status === 'COMPLETED',
  });
  // A query is lost when the ended run leaves the worker's cache at that moment, so each attempt has a deadline of its
  // own.
  const shown = async (): Promise<unknown> =>
    await engine.temporal.withDeadline(Date.now() + 2_000, async () =>
      engine
        .handle(talk)
        .query('events', { after: 0 })
        .catch(() => undefined),
    );
  expect(await until('it can be asked', shown)).toMatchObject({
    events: [],
  });
  await expect(talk.send('hello?')).rejects.toMatchObject({ code: 'conversation_closed' });
  expect(await engine.say(talk, 'hello?', { reopen: true })).toMatchObject({ text: 'two' });
  const started = (await engine.log(talk)).filter(({ type }) => type === 'conversation_started');
  expect(started).toHaveLength(2);
});
