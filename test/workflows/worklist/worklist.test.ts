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

/** An API over an engine in which three conversations wait for three roles. */
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
  for (const role of ROLES) {
    const conversation = client.conversation(`${taskQueue}-${role}`, { agent: 'desk' });
    ids.push(conversation.id);
    const sent = await conversation.send('go', { actor: { id: 'ann' } });
    expect((await sent.result({ timeout: '30s' })).status).toBe('waiting');
  }
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
  return { client, ids, read, answer };
}

test('lists what each role may answer, and takes one request with a stale, a forbidden and an accepted answer', {
  ...promise('G351', 'G352'),
}, async () => {
  const { client, ids, read, answer } = await open();
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
