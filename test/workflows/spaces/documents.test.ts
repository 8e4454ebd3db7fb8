/** An agent that is put as a document works in a space, by the built-in tools that the application passes nowhere. */
import { randomUUID } from 'node:crypto';
import express from 'express';
import { expect, test } from 'vitest';
import {
  type HsafaStoredAgentOptions,
  hsafaAgentCatalog,
  hsafaAgentDocuments,
  hsafaRoutes,
  keptAgentDocuments,
} from '../../../src/compat/hsafa/index.js';
import { calls, says, script } from '../../../src/model/scripted/scripted.js';
import type { SpaceMessage } from '../../../src/protocol/spaces/spaces.js';
import { identifyAll } from '../../support/networks/test-identity.js';
import { patient } from '../../support/patience.js';
import { promise } from '../../support/promise.js';
import { opened, runs, served } from '../../support/started-engines/opened.js';
import { until } from '../../support/until.js';

test('an agent that is put while the worker runs enters a space, has its visible call answered by a member, and writes', {
  ...promise('G414'),
  timeout: patient(90_000),
}, async () => {
  const colloquy = await opened({ actor: { id: 'anonymous' } });
  const { client, spaces, documents } = colloquy;
  const { id: spaceId } = await spaces!.create({ name: 'Desk', requestId: 'desk' });
  const model = script(
    calls('enter_space', { spaceId }),
    calls('confirmAction', { order: 42 }),
    calls('send_message', { text: 'Order 42 is confirmed.' }),
    says('done'),
  );
  const options: HsafaStoredAgentOptions = { model: () => model };
  const agents = hsafaAgentDocuments(keptAgentDocuments(documents!), options);
  const app = express();
  app.use(hsafaRoutes({ client, identify: identifyAll, agents, spaces: spaces! }));
  app.use(await colloquy.app({ identify: identifyAll }));
  const { request } = await served(app);
  await runs(colloquy, { agents: [], catalog: hsafaAgentCatalog(options), services: {} });

  const confirmAction = { name: 'confirmAction', description: 'Asks.', executionType: 'space' };
  const document = {
    ...{ name: 'clerk', model: 'any', systemPrompt: 'Work in the space.' },
    tools: [{ ...confirmAction, inputSchema: { type: 'object' }, timeout: 600_000 }],
  };
  await request('/api/agents/clerk', document, 'PUT');
  const conversationId = randomUUID();
  const member = { kind: 'agent', conversationId, agent: 'clerk' };
  await request(`/v1/spaces/${spaceId}/members`, { member });
  await client.conversation(conversationId, { agent: 'clerk' }).send('Look at order 42');

  const messages = async (): Promise<readonly SpaceMessage[]> =>
    (
      await request<{ readonly messages: readonly SpaceMessage[] }>(
        `/v1/spaces/${spaceId}/messages`,
      )
    ).messages;
  const asked = await until('the call waits in the space', async () =>
    (await messages()).find(({ status }) => status === 'requires_action'),
  );
  expect(asked?.metadata).toMatchObject({ toolName: 'confirmAction', input: { order: 42 } });
  const yes = { type: 'answer', value: { confirmed: true } };
  const path = `/v1/spaces/${spaceId}/messages/${asked?.id ?? ''}/resolution`;
  expect(await request(path, yes)).toMatchObject({ verdict: 'accepted' });
  const text = await until('the agent has written', async () =>
    (await messages()).find(({ kind }) => kind === 'text'),
  );
  expect(text).toMatchObject({
    author: { kind: 'agent', id: `${conversationId}~clerk` },
    text: 'Order 42 is confirmed.',
  });
  await until('the call is complete', async () =>
    (await messages()).some(({ id, status }) => id === asked?.id && status === 'complete'),
  );
  const offered = model.requests[0]?.tools.flatMap((tool) => ('name' in tool ? [tool.name] : []));
  expect(offered).toHaveLength(13);
});
