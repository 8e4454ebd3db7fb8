/** Workers are replaced by workers with changed tools while calls wait: on a real server, one after the other. */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { type Conversation, ConversationClient } from '../../../src/client/index.js';
import { type Agent, defineAgent } from '../../../src/define/define-agent.js';
import { defineTool } from '../../../src/define/define-tool.js';
import type { AnyTool } from '../../../src/define/tool/types.js';
import { calls, type ScriptedModel, says, script } from '../../../src/model/scripted/scripted.js';
import type { Suspension } from '../../../src/protocol/calls/suspensions.js';
import { type Engine, startEngine } from '../../support/engine/engine.js';
import { replays } from '../../support/engine/replays.js';
import { promise } from '../../support/promise.js';
import { temporaryFolder } from '../../support/temporary.js';
import { until } from '../../support/until.js';

const BEFORE = z.object({ order: z.string() });
const RENAMED = z.object({ orderId: z.string().optional() });
const WIDER = BEFORE.extend({ note: z.string().optional() });

const ASKS = () => script(calls('order', { order: 'a7' }));
const ENDS = () => script(says('Done.'));

function agentOf(tools: readonly AnyTool[], model: ScriptedModel): Agent<never> {
  return defineAgent({ name: 'shop', model, instructions: 'Help.', tools });
}

function order(input: z.ZodType, more: object): AnyTool {
  return defineTool({ name: 'order', description: 'Orders.', input, ...more } as never);
}

function server(runs: unknown[], input: z.ZodType, more: object = {}): AnyTool {
  const run = (given: unknown): string => {
    runs.push(given);
    return 'done';
  };
  return order(input, { approval: 'required', run, ...more });
}

/** Suspends the call on workers with the tools `before`, then replaces them by workers with the tools `after`. */
async function deployed(
  before: readonly AnyTool[],
  after: readonly AnyTool[],
): Promise<{ engine: Engine; talk: Conversation; id: string }> {
  const eventLog = join(temporaryFolder(), 'log.db');
  const old = await startEngine({ agents: [agentOf(before, ASKS())], eventLog });
  const { talk, result } = await old.ask('Order it');
  expect(result.status).toBe('waiting');
  await old.stopWorker();
  const { taskQueue } = old;
  const engine = await startEngine({ agents: [agentOf(after, ENDS())], eventLog, taskQueue });
  const [call] = await talk.pending();
  return { engine, talk: engine.begin(talk.id), id: call?.toolCallId ?? '' };
}

async function pending(
  talk: Conversation,
  holds: (call: Suspension) => boolean,
): Promise<Suspension> {
  const [call] = await until('the call waits', () => talk.pending(), {
    holds: ([first]) => first !== undefined && holds(first),
  });
  return call as Suspension;
}

test('a server tool whose arguments have a new meaning is not run, and the result says why', async () => {
  const runs: unknown[] = [];
  const { engine, talk, id } = await deployed([server(runs, BEFORE)], [server(runs, RENAMED)]);
  expect((await talk.resolve(id, { type: 'approve' })).verdict).toBe('accepted');
  await engine.idle(talk);
  expect(runs).toEqual([]);
  const log = await engine.log(talk);
  expect(log.find(({ type }) => type === 'definition_changed')).toMatchObject({
    toolCallId: id,
    approver: { id: 'tester' },
  });
  expect(log.find(({ type }) => type === 'tool_result')).toMatchObject({
    result: { status: 'errored', envelope: { error: { code: 'definition_changed' } } },
  });
  expect(await talk.resolve(id, { type: 'approve' })).toMatchObject({
    verdict: 'stale',
    code: 'definition_changed',
  });
  await replays(engine, talk);
});

test('a server tool that migrates its pending calls runs once the migrated arguments are approved as well', async () => {
  const runs: unknown[] = [];
  const migrate = (raw: unknown) => ({ orderId: (raw as { order: string }).order });
  const { engine, talk, id } = await deployed(
    [server(runs, BEFORE)],
    [server(runs, RENAMED, { migrate })],
  );
  await talk.resolve(id, { type: 'approve' });
  const anew = await pending(talk, ({ revised }) => revised === true);
  expect([anew.prompt, runs]).toEqual([{ orderId: 'a7' }, []]);
  expect((await talk.resolve(id, { type: 'approve' })).verdict).toBe('invalid');
  const { argsDigest = '' } = anew;
  expect((await talk.resolve(id, { type: 'approve' }, { argsDigest })).verdict).toBe('accepted');
  await engine.idle(talk);
  expect(runs).toEqual([{ orderId: 'a7' }]);
  await replays(engine, talk);
});

test('a client call is offered after its approval if its arguments mean the same, and ends otherwise', async () => {
  const client = (input: z.ZodType) => order(input, { executor: 'client', approval: 'required' });
  for (const now of [WIDER, RENAMED]) {
    const { engine, talk, id } = await deployed([client(BEFORE)], [client(now)]);
    await talk.resolve(id, { type: 'approve' });
    if (now === WIDER) {
      await pending(talk, ({ kind }) => kind === 'client_execution');
      await talk.resolve(id, { type: 'result', value: 'done' });
    }
    await engine.idle(talk);
    const result = (await engine.log(talk)).find(({ type }) => type === 'tool_result');
    expect(result).toMatchObject({
      result: {
        envelope: now === WIDER ? { ok: true } : { error: { code: 'definition_changed' } },
      },
    });
    await replays(engine, talk);
  }
});

test('a form that only a worker can judge is offered again, together with the answer that the new form refuses', async () => {
  const form = (output: z.ZodType) => order(BEFORE, { executor: 'human', output });
  const was = form(z.object({ day: z.string().refine((it) => it !== '') }));
  const { engine, talk, id } = await deployed([was], [form(z.object({ date: z.string() }))]);
  const first = await talk.resolve(id, { type: 'answer', value: { day: 'monday' } });
  expect(first.verdict).toMatch(/accepted|invalid/);
  const anew = await pending(talk, ({ answerSchema }) =>
    JSON.stringify(answerSchema).includes('date'),
  );
  expect(anew.toolCallId).toBe(id);
  const answer = { type: 'answer', value: { date: 'monday' } } as const;
  expect((await talk.resolve(id, answer)).verdict).toBe('accepted');
  await engine.idle(talk);
  expect((await engine.log(talk)).find(({ type }) => type === 'tool_result')).toMatchObject({
    result: { envelope: { ok: true, result: { date: 'monday' } } },
  });
  await replays(engine, talk);
});

test('a tool that asked in mid-run is not re-entered when its arguments have a new meaning', async () => {
  const runs: unknown[] = [];
  const asking = (input: z.ZodType) =>
    order(input, {
      run: (given: unknown, ctx: { asks: number; ask: (it: object) => never }) => {
        runs.push(given);
        return ctx.asks === 0 ? ctx.ask({ form: z.boolean() }) : 'done';
      },
    });
  const { engine, talk, id } = await deployed([asking(BEFORE)], [asking(RENAMED)]);
  await talk.resolve(id, { type: 'answer', value: true });
  await engine.idle(talk);
  expect(runs).toEqual([{ order: 'a7' }]);
  expect((await engine.log(talk)).find(({ type }) => type === 'tool_result')).toMatchObject({
    result: { envelope: { error: { code: 'outcome_unknown' } } },
  });
  await replays(engine, talk);
});

test('the watch offers a changed form before any answer arrives, and answers are judged by the new form only', {
  ...promise('G218'),
}, async () => {
  const form = (output: z.ZodType) => order(BEFORE, { executor: 'human', output });
  const now = z.strictObject({ date: z.string() });
  const { engine, talk, id } = await deployed(
    [form(z.strictObject({ day: z.string() }))],
    [form(now)],
  );
  const first = (await engine.log(talk)).find(({ type }) => type === 'suspension');
  const anew = await pending(talk, ({ answerSchema }) =>
    JSON.stringify(answerSchema).includes('date'),
  );
  expect(first).toMatchObject({ suspension: { toolCallId: id } });
  expect(anew.deadline).toBe((first as { suspension: Suspension }).suspension.deadline);
  const answer = (value: Record<string, string>) => ({ type: 'answer', value }) as const;
  expect((await talk.resolve(id, answer({ day: 'monday' }))).verdict).toBe('invalid');
  expect((await talk.resolve(id, answer({ date: 'monday' }))).verdict).toBe('accepted');
  await engine.idle(talk);
  const changed = (await engine.log(talk)).filter(({ type }) => type === 'suspension_changed');
  expect(changed).toHaveLength(1);
  await replays(engine, talk);
});

test('an agent that no worker serves is refused by name and its calls end; it continues when its workers are back', {
  ...promise('G221'),
}, async () => {
  const runs: unknown[] = [];
  const eventLog = join(temporaryFolder(), 'log.db');
  const shop = agentOf([server(runs, BEFORE)], ASKS());
  const first = await startEngine({ agents: [shop], eventLog });
  const { taskQueue } = first;
  const { talk } = await first.ask('Order it');
  const [call] = await talk.pending();
  await first.stopWorker();
  const other = defineAgent({ name: 'other', model: ENDS(), instructions: 'Help.' });
  const second = await startEngine({ agents: [other], eventLog, taskQueue });
  await until('the other worker is there', () => second.opened.log.liveWorkers(), {
    holds: (workers) => workers.length === 1,
  });
  const { verdict } = await talk.resolve(call?.toolCallId ?? '', { type: 'approve' });
  expect(verdict).toBe('accepted');
  const ended = await until('the call has ended', () => first.log(talk), {
    holds: (log) => log.some(({ type }) => type === 'tool_result'),
  });
  expect(ended.find(({ type }) => type === 'tool_result')).toMatchObject({
    result: {
      envelope: {
        error: {
          code: 'not_available',
          message: expect.stringMatching(/shop/) as string,
        },
      },
    },
  });
  expect(runs).toEqual([]);
  // Backdates the publication, as if the workers had been away for two minutes or more.
  const database = new DatabaseSync(eventLog);
  database.exec("UPDATE agents SET published_at = '2020-01-01T00:00:00.000Z' WHERE name = 'shop'");
  database.close();
  const api = new ConversationClient({
    temporal: first.temporal,
    taskQueue,
    agents: () => first.opened.log.agents(),
    reader: first.reader,
  });
  const asked = api.conversation(talk.id, { agent: 'shop' }).send('Are you there?');
  await expect(asked).rejects.toMatchObject({
    code: 'agent_not_served',
    message: expect.stringMatching(/2020-01-01/) as string,
  });
  // The list may contain conversations of other tests on the same server.
  const listed = async (engine: Engine): Promise<boolean> => {
    const { conversations } = await engine.opened.log.list({ attention: 'agent_not_served' });
    return conversations.some(({ conversationId }) => conversationId === talk.id);
  };
  expect(await listed(first)).toBe(true);
  await second.stopWorker();
  const model = script(says('Done.'), says('Here I am.'));
  const back = agentOf([server(runs, BEFORE)], model);
  const third = await startEngine({ agents: [back], eventLog, taskQueue });
  await until('the agent is back', () => listed(third), {
    holds: (isListed) => !isListed,
  });
  const turn = await api
    .conversation(talk.id, { agent: 'shop' })
    .send('And now?', { onBusy: 'queue' });
  // The turn that was running has continued as well.
  expect(await turn.result({ timeout: '50s' })).toMatchObject({
    status: 'completed',
    text: 'Here I am.',
  });
  await replays(third, talk);
});
