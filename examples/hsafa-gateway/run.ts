/** An agent is put as a document while the worker runs; a backend and a member of a space send it their results. */
import { deepEqual, equal } from 'node:assert/strict';
import { eventually, runExample } from '../support/run-example.js';
import { catalog, routes } from './agents.js';

const CLERK = {
  name: 'clerk',
  model: 'scripted',
  systemPrompt: 'Take orders in the space.',
  tools: [
    {
      ...{ name: 'stockLevel', description: 'Pieces in stock.', executionType: 'external' },
      inputSchema: { type: 'object', properties: { item: { type: 'string' } } },
      visible: false,
    },
    {
      ...{ name: 'confirmOrder', description: 'Asks a member.', executionType: 'space' },
      inputSchema: { type: 'object' },
      timeout: 600_000,
    },
  ],
};

await runExample({ agents: [], catalog, services: {}, routes }, async (app) => {
  const { api, headers, idOf, note } = app;
  const ask = async (method: string, path: string, body?: object) => {
    const response = await fetch(`${api}${path}`, {
      method,
      headers: { ...headers, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return (await response.json()) as Readonly<Record<string, unknown>>;
  };

  const put = await ask('PUT', '/api/agents/clerk', CLERK);
  note(`the agent has version ${String(put['version'])}`);
  equal(put['version'], 1);

  const conversationId = idOf('clerk');
  const space = await ask('POST', '/v1/spaces', { name: 'Orders' });
  const spaceId = String(space['id']);
  const member = { kind: 'agent', conversationId, agent: 'clerk' };
  await ask('POST', `/v1/spaces/${spaceId}/members`, { member });

  const offers = backend(`${api}/api/tools/stream?tools=stockLevel`, headers);
  await ask('POST', '/v1/conversations', {
    ...{ id: conversationId, agent: 'clerk', message: `The space ${spaceId} waits for you.` },
  });

  const call = await offers;
  note(`the backend has a call: ${call.toolName} ${JSON.stringify(call.args)}`);
  const stock = { callId: call.toolCallId, result: { pieces: 7 } };
  deepEqual(await ask('POST', `/api/runs/${call.runId}/tool-results`, stock), {
    ...{ success: true, agentEntityId: conversationId },
  });

  const messages = async () => {
    const { messages: all } = await ask('GET', `/v1/spaces/${spaceId}/messages`);
    return all as readonly {
      readonly id: string;
      readonly status: string;
      readonly text: string;
    }[];
  };
  const question = await eventually('a question in the space', async () =>
    (await messages()).find(({ status }) => status === 'requires_action'),
  );
  note('the space shows a question to its members');
  const path = `/v1/spaces/${spaceId}/messages/${question.id}/resolution`;
  const verdict = await ask('POST', path, { type: 'answer', value: { confirmed: true } });
  equal(verdict['verdict'], 'accepted');

  const written = await eventually('the message of the agent', async () =>
    (await messages()).find(({ text }) => text === 'Two red shoes are on their way.'),
  );
  note(`the agent writes: ${written.text}`);
});

interface ToolCall {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly args: object;
  readonly runId: string;
}

/** The first call of the stream, which is closed behind it. */
async function backend(url: string, headers: Readonly<Record<string, string>>): Promise<ToolCall> {
  const response = await fetch(url, { headers });
  let text = '';
  const decoder = new TextDecoder();
  for await (const piece of response.body ?? []) {
    text += decoder.decode(piece as Uint8Array, { stream: true });
    const data = /event: tool\.call\ndata: (.+)\n\n/.exec(text)?.[1];
    if (data !== undefined) return JSON.parse(data) as ToolCall;
  }
  throw new Error('the stream has ended without a call');
}
