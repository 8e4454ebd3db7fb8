/** Documents of the Hsafa gateway on a real server: a tool worker reads the stream of calls and submits the results. */
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { expect, onTestFinished, test } from 'vitest';
import {
  hsafaAgents,
  hsafaRoutes,
  type PendingToolCall,
  pendingToolCalls,
} from '../../../src/compat/hsafa/index.js';
import { calls, says, script } from '../../../src/testing/index.js';
import { type Engine, startEngine } from '../../support/engine/engine.js';
import { identifyAll } from '../../support/networks/test-identity.js';
import { promise } from '../../support/promise.js';
import { until } from '../../support/until.js';

const TOOLS = [
  { name: 'fetchExternalData', executionType: 'external', visible: false, timeout: 60_000 },
  { name: 'confirmAction', executionType: 'space', isAsync: true },
];

async function served(engine: Engine): Promise<string> {
  const { client, reader } = engine;
  const end = new AbortController();
  const app = express();
  const offers = reader.toolOffers;
  if (offers === undefined) throw new Error('the reader has no offers');
  app.use(
    hsafaRoutes({ client, identify: identifyAll, offers, spaces: false, signal: end.signal }),
  );
  const server: Server = app.listen(0, '127.0.0.1');
  onTestFinished(async () => {
    end.abort();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  await new Promise((resolve) => server.once('listening', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** The first `tool.call` of the stream. */
async function firstCall(api: string): Promise<PendingToolCall> {
  const response = await fetch(`${api}/api/tools/stream?tools=fetchExternalData`);
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  for (;;) {
    const [, data] = /event: tool\.call\ndata: (.*)\n\n/.exec(text) ?? [];
    if (data !== undefined) {
      await reader.cancel();
      return JSON.parse(data) as PendingToolCall;
    }
    text += (await reader.read()).value ?? '';
  }
}

async function submit(api: string, runId: string, body: object): Promise<readonly unknown[]> {
  const response = await fetch(`${api}/api/runs/${runId}/tool-results`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return [response.status, await response.json()];
}

test('a worker gets a call by the stream, and its result is returned inline; an async answer starts the next cycle', {
  ...promise('S29', 'H16', 'H28', 'H42', 'H43', 'H44', 'H45'),
}, async () => {
  const model = script(
    calls('fetchExternalData', { query: 'active projects' }),
    calls('confirmAction', { text: 'Archive them?' }),
    says('Asked.'),
    says('Archived.'),
  );
  const { agents } = hsafaAgents(
    { name: 'assistant', systemPrompt: 'Help.', model: 'm', tools: TOOLS },
    { model: () => model, spaces: false },
  );
  const engine = await startEngine({ agents });
  const api = await served(engine);
  const talk = engine.client.conversation(engine.begin().id, { agent: 'assistant' });
  await talk.send('Look up active projects');

  const call = await firstCall(api);
  expect(call).toMatchObject({
    ...{ toolName: 'fetchExternalData', args: { query: 'active projects' } },
    agentEntityId: talk.id,
  });
  const { runId, toolCallId: callId } = call;
  expect(await submit(api, `${talk.id}:turn_other_1`, { callId, result: 1 })).toEqual([
    403,
    { error: 'Tool call does not belong to this run' },
  ]);
  const ok = [200, { success: true, agentEntityId: talk.id }];
  expect(await submit(api, runId, { callId, result: { source: 'pm-api' } })).toEqual(ok);
  // The stream of the run ends with it, while the answer to its second call is still to come.
  const stream = await fetch(`${api}/api/runs/${runId}/stream`);
  const text = await stream.text();
  expect(text.match(/^event: (?!live)\w+$/gm)?.at(0)).toBe('event: user_message');
  expect(text.trimEnd()).toMatch(/^id: 1-\d+\nevent: turn_ended\ndata: .*$/m);
  const records = async () => pendingToolCalls(talk.id, await engine.log(talk));
  await until('the agent has asked', async () => (await records()).length === 2);
  await engine.idle(talk);
  expect(await submit(api, runId, { callId, result: 2 })).toEqual([
    409,
    { error: 'Tool call already resolved' },
  ]);
  const [, asked] = await records();
  expect(asked).toMatchObject({ toolName: 'confirmAction', status: 'pending', runId });
  const answer = { callId: asked?.toolCallId, result: { confirmed: true } };
  expect(await submit(api, runId, answer)).toEqual(ok);
  await until('the agent was woken', () => model.requests.length === 4);
  await engine.idle(talk);
  expect(await records()).toMatchObject([
    { status: 'resolved', result: { source: 'pm-api' } },
    { status: 'resolved', result: { confirmed: true } },
  ]);
  expect((await submit(api, runId, answer))[0]).toBe(409);
});

test('a service begins an agent, and wakes it later without its name; one that never began is unknown', {
  ...promise('G418', '2.H.3'),
}, async () => {
  const model = script(says('Noted.'), says('Noted again.'));
  const { agents } = hsafaAgents(
    { name: 'assistant', systemPrompt: 'Help.', model: 'm', tools: [] },
    { model: () => model, spaces: false },
  );
  const engine = await startEngine({ agents });
  const api = await served(engine);
  const talk = engine.client.conversation(engine.begin().id, { agent: 'assistant' });
  const trigger = async (key: string, more: object = {}) => {
    const response = await fetch(`${api}/api/agents/${talk.id}/trigger`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'idempotency-key': key },
      body: JSON.stringify({ serviceName: 'billing', payload: { invoice: key }, ...more }),
    });
    return [response.status, await response.json()];
  };
  const ok = (eventId: string) => [200, { success: true, agentEntityId: talk.id, eventId }];
  expect(await trigger('in-1')).toEqual([404, { error: 'Agent not found' }]);
  expect(await trigger('in-1', { agent: 'stranger' })).toEqual([404, { error: 'Agent not found' }]);
  expect(await trigger('in-1', { agent: 'assistant' })).toEqual(ok('in-1'));
  await engine.idle(talk);
  expect(await trigger('in-2')).toEqual(ok('in-2'));
  expect(await trigger('in-2')).toEqual(ok('in-2'));
  await until('the agent was woken twice', () => model.requests.length === 2);
  await engine.idle(talk);
  const events = await engine.log(talk);
  expect(events.filter(({ type }) => type === 'inbox_event')).toMatchObject(
    ['in-1', 'in-2'].map((invoice) => ({
      ...{ eventId: invoice, kind: 'service' },
      payload: { serviceName: 'billing', payload: { invoice } },
    })),
  );
});
