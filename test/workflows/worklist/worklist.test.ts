/** The worklist of three conversations on a real server, whose calls wait for different roles. */
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { ConversationClient } from '../../../src/client/index.js';
import { defineAgent, manifestOf } from '../../../src/define/define-agent.js';
import { defineTool } from '../../../src/define/define-tool.js';
import { createApp } from '../../../src/http/app.js';
import { serve } from '../../../src/http/listen.js';
import { calls, says, script } from '../../../src/model/scripted/scripted.js';
import type { WorklistPage } from '../../../src/protocol/log/worklist.js';
import { startEngine } from '../../support/engine/engine.js';
import { identifyAll } from '../../support/networks/test-identity.js';
import { WorklistReader } from '../../support/networks/worklist-reader.js';
import { patientOptions } from '../../support/patience.js';
import { promise } from '../../support/promise.js';
import { until } from '../../support/until.js';

const ROLES = ['lead', 'legal', 'ops'] as const;

const tools = ROLES.map((role) =>
  defineTool({
    name: `ask_${role}`,
    title: `Ask ${role}`,
    risk: role === 'legal' ? 'high' : 'low',
    description: 'Does its work.',
    input: z.object({ n: z.int() }),
    approval: { ask: { audience: { roles: [role] } } },
    run: ({ n }) => n,
  }),
);

/** An API over an engine whose conversations wait for three roles, in this order. */
async function open() {
  const model = script(
    ...ROLES.map((role, n) => calls(`ask_${role}`, { n })),
    ...ROLES.map(() => says('Done.')),
  );
  const agent = defineAgent({ name: 'desk', instructions: 'Help.', model, tools });
  const engine = await startEngine({ agents: [agent] });
  const { temporal, taskQueue, reader, opened } = engine;
  const agents = [manifestOf(agent)];
  const options = { temporal, taskQueue, reader, agents, channel: 'api' as const };
  const client = new ConversationClient(patientOptions(options, () => true));
  const app = createApp({ client, reader, conversations: opened.log, identify: identifyAll });
  const server = await serve(app, { port: 0, graceMs: 500 });
  onTestFinished(() => server.close());
  const ids: string[] = [];
  const read = async (query: string): Promise<WorklistPage> => {
    const response = await fetch(`${server.url}/v1/worklist?agent=desk&${query}`);
    expect(response.status).toBe(200);
    return (await response.json()) as WorklistPage;
  };
  const answer = async (items: readonly object[], key: string) => {
    const response = await fetch(`${server.url}/v1/worklist/resolutions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'idempotency-key': key },
      body: JSON.stringify({ items, actor: { id: 'bo', roles: ['lead', 'ops'] } }),
    });
    const { results } = (await response.json()) as { results: readonly Record<string, unknown>[] };
    return results;
  };
  const stream = (query: string): WorklistReader => {
    const reader = new WorklistReader(() => `${server.url}/v1/worklist/stream?${query}`);
    const ended = reader.read();
    onTestFinished(async () => {
      reader.cut();
      await ended;
    });
    return reader;
  };
  const begin = async (role: string): Promise<void> => {
    const conversation = client.conversation(`${taskQueue}-${role}`, { agent: 'desk' });
    ids.push(conversation.id);
    const sent = await conversation.send('go', { actor: { id: 'ann' } });
    expect((await sent.result({ timeout: '30s' })).status).toBe('waiting');
  };
  return { client, ids, read, answer, stream, begin };
}

test('lists what each role may answer, and takes one request with a stale, a forbidden and an accepted answer', {
  ...promise('G351', 'G352'),
}, async () => {
  const { client, ids, read, answer, begin } = await open();
  for (const role of ROLES) await begin(role);
  const mine = await until('all three calls are listed', () => read('mine=false'), {
    holds: ({ items }) => items.length === 3,
  });
  expect(mine.items.map(({ title, risk, requesters }) => [title, risk, requesters])).toEqual(
    ROLES.map((role) => [`Ask ${role}`, role === 'legal' ? 'high' : 'low', ['ann']]),
  );
  const { items } = await read('as=bo&role=lead&role=ops');
  expect(items.map(({ tool, why }) => [tool, why])).toEqual([
    ['ask_lead', 'role lead'],
    ['ask_ops', 'role ops'],
  ]);
  expect((await read('as=ann')).items).toEqual([]);

  const [lead, legal, ops] = ROLES.map((_, index) => mine.items[index]);
  const item = (call: typeof lead) => ({
    conversationId: call?.conversationId,
    toolCallId: call?.toolCallId,
    argsDigest: call?.argsDigest,
    resolution: { type: 'approve' },
  });
  await client.resolve(
    lead?.ref ?? '',
    { type: 'approve' },
    { actor: { id: 'cat', roles: ['lead'] } },
  );
  const all = [lead, legal, ops].map(item);
  const results = await answer(all, 'k');
  expect(results.map(({ httpStatus, verdict }) => [httpStatus, verdict])).toEqual([
    [409, 'stale'],
    [403, 'forbidden'],
    [200, 'accepted'],
  ]);
  expect(results.map(({ conversationId }) => conversationId)).toEqual(ids);
  const repeated = await answer(all, 'k');
  expect(repeated.map(({ verdict }) => verdict)).toEqual(['stale', 'forbidden', 'duplicate']);
  const left = await until('only one call waits', () => read('mine=false'), {
    holds: (page) => page.items.length === 1,
  });
  expect(left.items).toMatchObject([{ tool: 'ask_legal', mayAnswer: false }]);
  expect(left.counts).toMatchObject({ total: 1, byRisk: { high: 1 } });
});

test('a stream sees that a call has opened, and that it was answered', {
  ...promise('G353'),
}, async () => {
  const { read, answer, stream, begin } = await open();
  await begin('lead');
  const ops = stream('as=bo&role=ops');
  const all = stream('mine=false');
  await until('both lists are there', () => ops.counts?.total === 0 && all.counts?.total === 1);
  await begin('legal');
  await until('the call is listed', () => all.counts?.total === 2);
  await begin('ops');
  await until('the call is listed', () => ops.counts?.total === 1);
  expect(ops.items).toMatchObject([{ tool: 'ask_ops', mayAnswer: true, why: 'role ops' }]);
  const { items } = await read('as=bo&role=ops');
  expect(ops.items).toEqual(items);
  const [{ conversationId, toolCallId } = {}] = ops.items;
  const results = await answer(
    [{ conversationId, toolCallId, resolution: { type: 'approve' } }],
    'k',
  );
  expect(results).toMatchObject([{ httpStatus: 200 }]);
  await until('the call is gone', () => ops.counts?.total === 0);
  await until('the call is gone', () => all.counts?.total === 2);
});
